const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Round a guess to what it is worth: seconds in the last minutes, then minutes, then hours. */
export function roughly(seconds: number): number {
  if (seconds < 2 * MINUTE) return Math.round(seconds);
  const unit = seconds < 10 * HOUR ? MINUTE : HOUR;
  return Math.round(seconds / unit) * unit;
}
