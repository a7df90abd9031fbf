import { Button } from 'antd';
import { useTell } from '@/ui/useTell';
import { useOpening } from './opening';

/** Opens TensorBoard over jobs, running or over. */
export function TensorBoardButton({ jobs }: { jobs: readonly string[] }) {
  const tell = useTell();
  const opening = useOpening();
  const [first, ...others] = jobs;
  if (!first) return null;
  const open = () => opening.mutate({ job: first, service: 'tensorboard', others }, { onError: tell.failed });
  return (
    <Button loading={opening.isPending} onClick={open}>
      TensorBoard
    </Button>
  );
}
