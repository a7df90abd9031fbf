import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { RiskMenu } from '@/ui/RiskMenu';
import { useTell } from '@/ui/useTell';
import { modelKeys } from './queries';
import { words } from './words';

/** Take a model out of the trash. */
export function Restore({ model }: { model: { id: string; name: string } }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const restoring = useMutation({
    mutationFn: () =>
      answer(api.POST('/api/v1/models/{model}/restore', { params: { path: { model: model.id } } })),
    onSuccess: () => done(say.restored(model.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: modelKeys }),
  });
  return (
    <Button size="small" loading={restoring.isPending} onClick={() => restoring.mutate()}>
      {say.restore}
    </Button>
  );
}

interface DeleteProps {
  what: string;
  remove: () => Promise<unknown>;
  onDone: () => void;
}

/** Move a model, or one version, to the trash. */
export function MoveToTrash({ what, remove, onDone }: DeleteProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const removing = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      done(say.deleted(what));
      onDone();
    },
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: modelKeys }),
  });
  return (
    <RiskMenu
      of={what}
      label={say.delete}
      icon={<DeleteOutlined aria-hidden />}
      title={say.deleteAsk(what)}
      hint={say.deleteHint}
      onOk={() => removing.mutate()}
    />
  );
}
