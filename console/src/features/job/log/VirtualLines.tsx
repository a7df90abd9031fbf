import {
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import styles from './log.module.css';

export const LINE_PX = 20;
const SPARE_LINES = 20;
const NEAR_LINES = 200;
/** This close to the bottom counts as following. */
const BOTTOM_PX = 24;

export interface Scroller {
  toEnd: () => void;
  toLine: (index: number) => void;
}

interface VirtualLinesProps {
  count: number;
  line: (index: number) => ReactNode;
  label: string;
  /** Lines that came or went above, over all time: the view stays on what somebody reads. */
  shift: number;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
  onNearTop?: () => void;
  onNearBottom?: () => void;
  ref: Ref<Scroller>;
}

/** Lines of one height, of which only those in sight are drawn. */
export function VirtualLines(props: VirtualLinesProps) {
  const { count, line, label, shift, isFollowing, onFollow, onNearTop, onNearBottom, ref } = props;
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 100]);
  const lastShift = useRef(shift);
  const lastTop = useRef(0);

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, Math.floor(element.scrollTop / LINE_PX) - SPARE_LINES);
    const nShown = Math.ceil(element.clientHeight / LINE_PX) + 2 * SPARE_LINES;
    setRange(([from, to]) =>
      from === first && to === first + nShown ? [from, to] : [first, first + nShown],
    );
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const moved = (shift - lastShift.current) * LINE_PX;
    lastShift.current = shift;
    if (isFollowing && count > 0) element.scrollTop = element.scrollHeight;
    else if (moved !== 0) element.scrollTop += moved;
    lastTop.current = element.scrollTop;
    measure();
  }, [count, shift, isFollowing, measure]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [measure]);

  useImperativeHandle(ref, () => ({
    toEnd: () => {
      const element = box.current;
      if (element) element.scrollTop = element.scrollHeight;
    },
    toLine: (index) => {
      const element = box.current;
      if (element) element.scrollTop = Math.max(0, index * LINE_PX - element.clientHeight / 3);
      measure();
    },
  }));

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    measure();
    const toBottom = element.scrollHeight - element.scrollTop - element.clientHeight;
    const wentUp = element.scrollTop < lastTop.current - 1;
    lastTop.current = element.scrollTop;
    if (toBottom < BOTTOM_PX && !wentUp) onFollow(true);
    else if (wentUp) onFollow(false);
    if (element.scrollTop < NEAR_LINES * LINE_PX) onNearTop?.();
    if (toBottom < NEAR_LINES * LINE_PX) onNearBottom?.();
  };

  const [from, to] = [range[0], Math.min(range[1], count)];
  const shown: ReactNode[] = [];
  for (let index = from; index < to; index += 1) {
    shown.push(
      <div key={index} className={styles.line}>
        {line(index)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      className={styles.box}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-label={label}
      aria-live="off"
    >
      <div style={{ height: count * LINE_PX }} className={styles.space}>
        <div className={styles.shown} style={{ transform: `translateY(${from * LINE_PX}px)` }}>
          {shown}
        </div>
      </div>
    </div>
  );
}
