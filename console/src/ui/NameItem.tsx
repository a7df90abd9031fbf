import { Form, Input } from 'antd';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

interface NameItemProps {
  label: string;
  /** What is said of a name that cannot be. */
  bad: string;
  isFixed: boolean;
}

/** The name of a thing, which can only be given once. */
export function NameItem({ label, bad, isFixed }: NameItemProps) {
  return (
    <Form.Item name="name" label={label} rules={[{ required: true, pattern: NAME, message: bad }]}>
      <Input disabled={isFixed} />
    </Form.Item>
  );
}
