import { useSyncExternalStore } from 'react';
import { useLanguage } from '@/i18n/language';
import type { Language } from '@/i18n/translated';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time, in whole steps: a component renders again only when its step is over. */
export function useNow(stepMs = 1000): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / stepMs) * stepMs);
}

const TAGS: Record<Language, string> = { en: 'en-GB', zh: 'zh-CN' };
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `3 minutes ago`, or `in 2 hours`. */
export function relative(seconds: number, language: Language): string {
  const format = new Intl.RelativeTimeFormat(TAGS[language], { numeric: 'auto', style: 'short' });
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  const whole = Math.trunc(seconds / size);
  return format.format(unit === 'second' && Math.abs(whole) < 5 ? 0 : whole, unit);
}

export function exactly(at: string, language: Language): string {
  const format = new Intl.DateTimeFormat(TAGS[language], { dateStyle: 'medium', timeStyle: 'long' });
  return format.format(new Date(at));
}

/** A moment, told from now; exactly when pointed at. */
export function TimeAgo({ at }: { at: string | null }) {
  const { language } = useLanguage();
  const then = at === null ? 0 : Date.parse(at);
  const recent = Math.abs(Date.now() - then) < 60_000;
  const seconds = (then - useNow(recent ? 1000 : 10_000)) / 1000;
  if (at === null) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={exactly(at, language)}>
      {relative(Math.abs(seconds) < 1 ? 0 : seconds, language)}
    </time>
  );
}

/** `1d 3h`, `2h 05m`, `3m 20s`, `4.2s`: short enough for a column. */
export function span(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  const whole = Math.floor(seconds);
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  const pad = (n: number) => String(n).padStart(2, '0');
  if (days > 0) return `${days}d ${pad(hours)}h`;
  if (hours > 0) return `${hours}h ${pad(minutes)}m`;
  if (minutes > 0) return `${minutes}m ${pad(whole % 60)}s`;
  return `${whole}s`;
}

/** A time of day down to the millisecond, for logs and events. */
export function clock(at: string): string {
  const date = new Date(at);
  const pad = (n: number, width = 2) => String(n).padStart(width, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}

interface RunTimeProps {
  /** How long it had run when the server answered, at `asOf` by our own clock. */
  seconds: number | null;
  asOf: number;
  isOver: boolean;
}

/** How long a job has run: it goes on counting while the job runs, whatever the two clocks say. */
export function RunTime({ seconds, asOf, isOver }: RunTimeProps) {
  const current = useNow();
  if (seconds === null) return <span className="quiet">–</span>;
  const passed = isOver ? 0 : Math.max(0, (current - asOf) / 1000);
  const total = seconds + passed;
  return <span className="number">{!isOver && total < 10 ? `${Math.floor(total)}s` : span(total)}</span>;
}
