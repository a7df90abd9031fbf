import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { useWords } from '@/i18n/language';
import { RiskMenu } from '@/ui/RiskMenu';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';

/** Begin something new in a catalogue. */
export function Add({ label, onAdd }: { label: string; onAdd: () => void }) {
  return (
    <Button size="small" icon={<PlusOutlined aria-hidden />} onClick={onAdd}>
      {label}
    </Button>
  );
}

interface ActionsProps {
  name: string;
  edit: string;
  ask: string;
  deleted: string;
  changes: QueryKey;
  onEdit: () => void;
  remove: () => Promise<unknown>;
}

/** Change or delete one thing of a catalogue. */
export function Actions({ name, edit, ask, deleted, changes, onEdit, remove }: ActionsProps) {
  const admin = useWords(adminWords);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const deleting = useMutation({
    mutationFn: remove,
    onSuccess: () => done(deleted),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: changes }),
  });
  return (
    <div className={styles.actions}>
      <Button size="small" aria-label={edit} onClick={onEdit}>
        {admin.edit}
      </Button>
      <RiskMenu
        of={name}
        label={admin.delete}
        icon={<DeleteOutlined aria-hidden />}
        title={ask}
        onOk={() => deleting.mutate()}
      />
    </div>
  );
}
