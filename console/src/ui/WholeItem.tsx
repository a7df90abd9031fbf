import { Form, type FormItemProps, Input } from 'antd';
import { useWords } from '@/i18n/language';
import { words } from './words';

interface WholeItemProps extends Pick<FormItemProps, 'name' | 'label' | 'extra'> {
  least: number;
  most: number;
}

const WIDTH_PX = 120;
const WHOLE = /^\s*-?\d{1,15}\s*$/;

/** What was typed, as a number where it is one; anything else stays as it is, to be marked. */
export const wholeOf = (text: string): number | string => (WHOLE.test(text) ? Number(text) : text);

export const isWhole = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

/** A whole number within bounds: what is outside is never cut to them, but marked at once, with the bounds. */
export function WholeItem({ least, most, ...item }: WholeItemProps) {
  const say = useWords(words);
  const check = async (_rule: unknown, value: unknown) => {
    if (!isWhole(value, least, most)) throw new Error(say.whole(least, most));
  };
  return (
    <Form.Item
      {...item}
      rules={[{ validator: check }]}
      getValueFromEvent={(event: { target: { value: string } }) => wholeOf(event.target.value)}
    >
      <Input inputMode="numeric" autoComplete="off" style={{ width: WIDTH_PX }} />
    </Form.Item>
  );
}
