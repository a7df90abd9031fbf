import { useSyncExternalStore } from 'react';
import { useLanguage } from '@/i18n/language';
import type { Language } from '@/i18n/translated';
import { moment } from '@/messages/formats';

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
// Made once: a list of fifty jobs would spend most of its time on making them.
const ago: Record<Language, Intl.RelativeTimeFormat> = {
  en: new Intl.RelativeTimeFormat(TAGS.en, { numeric: 'auto', style: 'short' }),
  zh: new Intl.RelativeTimeFormat(TAGS.zh, { numeric: 'auto', style: 'short' }),
};
const JUST_NOW: Record<Language, string> = { en: 'just now', zh: '刚刚' };
const DAY_S = 86_400;
const SHORT_HOURS = 10;

/** `3 min ago`, `in 1.5 hr`, `yesterday`: near enough to act on; days are those of the calendar. */
export function relative(seconds: number, language: Language, now = Date.now()): string {
  if (seconds <= 0 && seconds > -5) return JUST_NOW[language];
  return spaced(nearly(seconds, ago[language], now));
}

// The platform's own sentences have a space there too.
const spaced = (text: string) => text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');

function nearly(seconds: number, format: Intl.RelativeTimeFormat, now: number): string {
  const length = Math.abs(seconds);
  if (length < 60) return format.format(length < 5 ? 0 : Math.trunc(seconds), 'second');
  const minutes = Math.round(seconds / 60);
  if (Math.abs(minutes) < 60) return format.format(minutes, 'minute');
  if (length >= DAY_S) return format.format(calendarDays(now, now + seconds * 1000), 'day');
  const hours = seconds / 3600;
  // A half hour matters as long as there are few of them.
  const told = Math.abs(hours) < SHORT_HOURS ? Math.round(hours * 2) / 2 : Math.round(hours);
  return format.format(told, 'hour');
}

/** How many midnights lie between two moments, where the reader lives. */
function calendarDays(from: number, to: number): number {
  const day = (at: number) => new Date(at).setHours(12, 0, 0, 0);
  return Math.round((day(to) - day(from)) / (DAY_S * 1000));
}

// Made once: a list of fifty jobs would spend most of its time on making them.
const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** A moment as the reader's clock shows it, to the second, with its zone; the same in every language. */
export function exactly(at: string): string {
  const name = zone.formatToParts(new Date(at)).find(({ type }) => type === 'timeZoneName')?.value;
  return `${moment(at)} ${name}`;
}

/** A moment, told from now; exactly when pointed at. */
export function TimeAgo({ at }: { at: string | null }) {
  const { language } = useLanguage();
  const then = at === null ? 0 : Date.parse(at);
  const recent = Math.abs(Date.now() - then) < 60_000;
  const current = useNow(recent ? 1000 : 10_000);
  const seconds = (then - current) / 1000;
  if (at === null) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={exactly(at)}>
      {relative(seconds, language, current)}
    </time>
  );
}

const pad = (n: number, width = 2) => String(n).padStart(width, '0');

interface Units {
  d: string;
  h: string;
  m: string;
  s: string;
  /** Writes what follows a larger unit. */
  next: (n: number) => string;
}

const UNITS: Record<Language, Units> = {
  en: { d: 'd ', h: 'h ', m: 'm ', s: 's', next: pad },
  zh: { d: ' 天 ', h: ' 小时 ', m: ' 分 ', s: ' 秒', next: String },
};

/** `1d 03h`, `2h 05m`, `3m 20s`, `4.2s`, `0.02s`: short enough for a column. */
export function span(seconds: number, language: Language): string {
  const { d, h, m, s, next } = UNITS[language];
  if (seconds >= 0.005 && seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)}${s}`;
  const whole = Math.floor(seconds);
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  if (days > 0) return `${days}${d}${hours > 0 ? `${next(hours)}${h}` : ''}`.trim();
  if (hours > 0) return `${hours}${h}${minutes > 0 ? `${next(minutes)}${m}` : ''}`.trim();
  if (minutes > 0) return `${minutes}${m}${next(whole % 60)}${s}`;
  return `${whole}${s}`;
}

export const isToday = (at: string, now = Date.now()) =>
  new Date(at).toDateString() === new Date(now).toDateString();

/** A time of day down to the millisecond, for logs and events; with its date, unless that goes without saying. */
export function clock(at: string, isDated = !isToday(at)): string {
  const date = new Date(at);
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
  if (!isDated) return time;
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${time}`;
}

/** A time of day; with its zone, and all else, when pointed at. */
export function Clock({ at, isDated }: { at: string; isDated?: boolean }) {
  return (
    <time dateTime={at} title={exactly(at)}>
      {clock(at, isDated)}
    </time>
  );
}

/** How long ago something began that still goes on; exactly when pointed at. */
export function TimeSince({ at }: { at: string }) {
  const { language } = useLanguage();
  const seconds = (useNow() - Date.parse(at)) / 1000;
  return (
    <time dateTime={at} title={exactly(at)} className="number">
      {span(Math.max(0, Math.floor(seconds)), language)}
    </time>
  );
}

interface RunTimeProps {
  /** How long it had run when the server answered, at `asOf` by our own clock. */
  seconds: number | null;
  asOf: number;
  isOver: boolean;
}

/** How long a job has run: it goes on counting while the job runs, whatever the two clocks say. */
export function RunTime({ seconds, asOf, isOver }: RunTimeProps) {
  const { language } = useLanguage();
  const current = useNow();
  if (seconds === null) return <span className="quiet">–</span>;
  const passed = isOver ? 0 : Math.max(0, (current - asOf) / 1000);
  const total = seconds + passed;
  // Parts of a second would only flicker while it counts.
  return <span className="number">{span(isOver ? total : Math.floor(total), language)}</span>;
}
