import { memo } from 'react';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import { marked, segments } from './ansi';
import styles from './log.module.css';

/** Longer lines are cut: a browser chokes on them, and the download has them whole. */
const MOST_SHOWN = 4000;

type Words = (typeof words)['en'];

/** A line as it is shown, without its looks. */
export function cutText(text: string, say: Words): string {
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)} ${say.cutLine(text.length - MOST_SHOWN)}`;
}

interface LineTextProps {
  text: string;
  wanted: string;
  /** Whether this is the match that somebody went to. */
  isCurrent?: boolean;
}

export const LineText = memo(function LineText({ text, wanted, isCurrent = false }: LineTextProps) {
  const say = useWords(words);
  const cut = text.length > MOST_SHOWN ? text.slice(0, MOST_SHOWN) : text;
  const parts = marked(segments(cut), wanted);
  return (
    <>
      {parts.map((part, index) => {
        const style = { color: part.color, background: part.background };
        const classes = part.classes
          .split(' ')
          .map((name) => (name ? styles[name] : ''))
          .join(' ');
        return part.isMatch ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line have no other name
          <mark key={index} className={classes} data-current={isCurrent}>
            {part.text}
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line have no other name
          <span key={index} className={classes} style={style}>
            {part.text}
          </span>
        );
      })}
      {text.length > MOST_SHOWN && (
        <span className={styles.system}> {say.cutLine(text.length - MOST_SHOWN)}</span>
      )}
    </>
  );
});
