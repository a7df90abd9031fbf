import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Form, Input } from 'antd';
import { imagesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { words as adminWords } from '../words';
import { CHOICE_NAME, POSITION } from './fields';
import { words } from './words';

/** The name of something that can be chosen, which stays once it is there. */
export function NameItem({
  isFixed,
  name = 'name',
  label,
}: {
  isFixed: boolean;
  name?: string;
  label?: string;
}) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  return (
    <Form.Item
      name={name}
      label={label ?? admin.name}
      rules={[{ required: true, pattern: CHOICE_NAME, message: say.badName }]}
    >
      <Input disabled={isFixed} />
    </Form.Item>
  );
}

export function ImageItem() {
  const say = useWords(words);
  const { data: images = [] } = useQuery(imagesQuery);
  return (
    <Form.Item name="image" label={say.image} extra={say.imageHelp}>
      <AutoComplete allowClear options={images.map(({ name }) => ({ value: name }))} />
    </Form.Item>
  );
}

/** What each of them has at its end: a text, and its place in the list. */
export function LastItems() {
  const say = useWords(words);
  const admin = useWords(adminWords);
  return (
    <>
      <Form.Item name="description" label={admin.description}>
        <Input maxLength={4096} />
      </Form.Item>
      <Form.Item
        name="position"
        label={say.position}
        extra={say.positionHelp}
        rules={[{ pattern: POSITION, message: say.badWhole }]}
      >
        <Input inputMode="numeric" placeholder="0" />
      </Form.Item>
    </>
  );
}
