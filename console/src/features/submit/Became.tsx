import { Typography } from 'antd';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { sentence } from '@/ui/formProblems';
import { useTold } from '@/ui/told';
import { words } from './words';

type Told = Schemas['Told'];

/** What became of the fields of a file of another system: those that are lost first. */
export function Became({ dialect, converted, lost }: Omit<Schemas['Translated'], 'document'>) {
  const say = useWords(words);
  const told = useTold();
  const what = told({ message: '', message_code: 'job_file_foreign', params: { format: dialect } });
  return (
    <>
      <p>{sentence(what)}</p>
      <Notes title={say.lost} notes={lost} otherwise={say.nothingLost} />
      <Notes title={say.becameTitle} notes={converted} />
    </>
  );
}

function Notes({ title, notes, otherwise }: { title: string; notes: Told[]; otherwise?: string }) {
  const told = useTold();
  if (notes.length === 0) return otherwise ? <p>{otherwise}</p> : null;
  return (
    <>
      <Typography.Title level={5}>{title}</Typography.Title>
      <ul>
        {notes.map((one) => (
          <li key={`${one.message_code} ${one.message}`}>{told(one)}</li>
        ))}
      </ul>
    </>
  );
}
