import {
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import styles from './log.module.css';
import { lineAt, type Room, rowsOf } from './rows';

export const LINE_PX = 20;
const SPARE_LINES = 20;
const NEAR_LINES = 200;
/** This close to the bottom counts as following. */
const BOTTOM_PX = 24;
const PADDING_PX = 28;

export interface Scroller {
  toEnd: () => void;
  toLine: (index: number) => void;
}

interface VirtualLinesProps {
  count: number;
  line: (index: number) => ReactNode;
  /** What a line says, for how many rows it takes; it changes whenever lines do. */
  text: (index: number) => string;
  isWrapped: boolean;
  label: string;
  /** Lines that came or went above, over all time: the view stays on what somebody reads. */
  shift: number;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
  onNearTop?: () => void;
  onNearBottom?: () => void;
  /** Which lines are drawn now: the first, and the one behind the last. */
  onRange?: (from: number, to: number) => void;
  ref: Ref<Scroller>;
}

/** Where lines lie in the box: one row each, or more where long ones break. */
interface Layout {
  rows: Uint32Array | undefined;
  top: (index: number) => number;
  at: (px: number) => number;
}

function layoutOf(rows: Uint32Array | undefined): Layout {
  if (!rows) {
    return { rows, top: (index) => index * LINE_PX, at: (px) => Math.floor(px / LINE_PX) };
  }
  return {
    rows,
    top: (index) => (rows[Math.min(index, rows.length - 1)] ?? 0) * LINE_PX,
    at: (px) => lineAt(rows, Math.floor(px / LINE_PX)),
  };
}

/** Lines of a log, of which only those in sight are drawn. */
export function VirtualLines(props: VirtualLinesProps) {
  const { count, line, text, isWrapped, label, shift } = props;
  const { isFollowing, onFollow, onNearTop, onNearBottom, onRange, ref } = props;
  const box = useRef<HTMLDivElement>(null);
  const room = useRoom(box, isWrapped);
  const layout = useMemo(() => layoutOf(room && rowsOf(count, text, room)), [count, text, room]);
  const [range, setRange] = useState<[number, number]>([0, 100]);
  const last = useRef({ shift, layout, top: 0, height: 0 });

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const first = Math.max(0, layout.at(element.scrollTop) - SPARE_LINES);
    const end = layout.at(element.scrollTop + element.clientHeight) + SPARE_LINES;
    setRange(([from, to]) => (from === first && to === end ? [from, to] : [first, end]));
  }, [layout]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (isFollowing && count > 0) element.scrollTop = element.scrollHeight;
    else keepPlace(element, last.current, layout, shift);
    last.current = { shift, layout, top: element.scrollTop, height: element.clientHeight };
    measure();
  }, [count, shift, isFollowing, measure, layout]);

  const resized = useCallback(() => {
    const element = box.current;
    if (!element) return;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    last.current.top = element.scrollTop;
    last.current.height = element.clientHeight;
    measure();
  }, [measure, isFollowing]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(resized);
    observer.observe(element);
    return () => observer.disconnect();
  }, [resized]);

  useImperativeHandle(ref, () => ({
    toEnd: () => {
      const element = box.current;
      if (element) element.scrollTop = element.scrollHeight;
    },
    toLine: (index) => {
      const element = box.current;
      if (element) element.scrollTop = Math.max(0, layout.top(index) - element.clientHeight / 3);
      measure();
    },
  }));

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    // A box that grows moves its lines down, and may say so first: that is nobody's scrolling.
    if (element.clientHeight !== last.current.height) {
      resized();
      return;
    }
    measure();
    const toBottom = element.scrollHeight - element.scrollTop - element.clientHeight;
    const wentUp = element.scrollTop < last.current.top - 1;
    last.current.top = element.scrollTop;
    if (toBottom < BOTTOM_PX && !wentUp) onFollow(true);
    else if (wentUp) onFollow(false);
    if (element.scrollTop < NEAR_LINES * LINE_PX) onNearTop?.();
    if (toBottom < NEAR_LINES * LINE_PX) onNearBottom?.();
  };

  const [from, to] = [range[0], Math.min(range[1], count)];
  useEffect(() => onRange?.(from, to), [onRange, from, to]);
  const shown: ReactNode[] = [];
  for (let index = from; index < to; index += 1) {
    const height = layout.rows && layout.top(index + 1) - layout.top(index);
    shown.push(
      <div key={index} className={styles.line} style={height ? { height } : undefined}>
        {line(index)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      className={styles.box}
      data-wrap={isWrapped}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-label={label}
      aria-live="off"
    >
      <div style={{ height: layout.top(count) }} className={styles.space}>
        <div className={styles.shown} style={{ transform: `translateY(${layout.top(from)}px)` }}>
          {shown}
        </div>
      </div>
    </div>
  );
}

/** Stay on the line that somebody reads, whatever came or went above it, however lines break now. */
function keepPlace(
  element: HTMLElement,
  before: { shift: number; layout: Layout },
  layout: Layout,
  shift: number,
): void {
  const moved = shift - before.shift;
  if (moved === 0 && !isTurned(before.layout, layout)) return;
  const line = before.layout.at(element.scrollTop);
  const within = element.scrollTop - before.layout.top(line);
  element.scrollTop = layout.top(Math.max(0, line + moved)) + within;
}

/** Whether lines break elsewhere than before. */
function isTurned({ rows: before }: Layout, { rows: now }: Layout): boolean {
  if (!before || !now) return before !== now;
  const last = Math.min(before.length, now.length) - 1;
  return before[last] !== now[last];
}

/** How much fits into a row, as long as lines break. */
function useRoom(box: RefObject<HTMLDivElement | null>, isWrapped: boolean): Room | undefined {
  const [room, setRoom] = useState<Room>();
  useLayoutEffect(() => {
    const element = box.current;
    if (!isWrapped || !element) {
      setRoom(undefined);
      return;
    }
    const measure = () => {
      const narrow = widthOf('0', element);
      const columns = Math.max(10, (element.clientWidth - PADDING_PX) / narrow);
      const wide = widthOf('训', element) / narrow;
      setRoom((old) => (old?.columns === columns && old.wide === wide ? old : { columns, wide }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, isWrapped]);
  return isWrapped ? room : undefined;
}

const N_PROBED = 100;

function widthOf(character: string, element: HTMLElement): number {
  const probe = document.createElement('span');
  probe.textContent = character.repeat(N_PROBED);
  probe.style.cssText = 'position: absolute; visibility: hidden; white-space: pre';
  element.append(probe);
  const width = probe.getBoundingClientRect().width / N_PROBED;
  probe.remove();
  return width || 1;
}
