import { CheckOutlined, ExclamationOutlined } from '@ant-design/icons';
import { useWords } from '@/i18n/language';
import type { SectionName } from './layout';
import styles from './submit.module.css';
import { words } from './words';

interface StepsProps {
  names: readonly SectionName[];
  current: number;
  furthest: number;
  bad: ReadonlySet<SectionName>;
  onGo: (step: number) => void;
}

/** The sections of the guided form, in order. */
export function Steps({ names, current, furthest, bad, onGo }: StepsProps) {
  const say = useWords(words);
  return (
    <ol className={styles.steps}>
      {names.map((name, index) => {
        const isBad = bad.has(name) && index < furthest;
        const isDone = index < furthest && !isBad;
        const state = isBad ? `, ${say.stepHasProblems}` : isDone ? `, ${say.stepIsDone}` : '';
        const { title } = say.sections[name];
        return (
          <li key={name}>
            <button
              type="button"
              className={styles.step}
              data-state={isBad ? 'bad' : isDone ? 'done' : 'open'}
              aria-current={index === current ? 'step' : undefined}
              onClick={() => onGo(index)}
            >
              <span className={styles.stepSign} aria-hidden="true">
                {isBad ? (
                  <ExclamationOutlined aria-hidden />
                ) : isDone ? (
                  <CheckOutlined aria-hidden />
                ) : (
                  index + 1
                )}
              </span>
              <span className={styles.stepTitle}>{title}</span>
              <span className="visually-hidden">{state}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
