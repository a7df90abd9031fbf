const LEAST = 0.0001;

/** An amount of money: two digits, and more for what is less than a hundredth. */
export function money(amount: number, currency: string): string {
  if (amount > 0 && amount < LEAST) return `< ${LEAST} ${currency}`.trimEnd();
  return `${amount.toFixed(amount >= 0.01 || amount === 0 ? 2 : 4)} ${currency}`.trimEnd();
}

export const hours = (amount: number): string => amount.toFixed(2);
