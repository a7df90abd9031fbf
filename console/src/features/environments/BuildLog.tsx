import { useQuery } from '@tanstack/react-query';
import { Button, Modal, Skeleton } from 'antd';
import type { Schemas } from '@/api/client';
import { buildLogQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { useReturnFocus } from '@/ui/useReturnFocus';
import styles from './environments.module.css';
import { words } from './words';

interface BuildLogProps {
  environment: Schemas['EnvironmentBody'];
  onClose: () => void;
}

/** What a build has printed, and goes on to print. */
export function BuildLog({ environment: { id, what, is_building }, onClose }: BuildLogProps) {
  const say = useWords(words);
  useReturnFocus();
  const { data: text, error } = useQuery(buildLogQuery(id, is_building));
  return (
    <Modal
      open
      width={760}
      title={say.logOf(what)}
      onCancel={onClose}
      footer={<Button onClick={onClose}>{say.close}</Button>}
    >
      {error && text === undefined && <Failure error={error} />}
      {text === undefined && !error && <Skeleton active title={false} />}
      {text === '' && <p className="quiet">{say.noLog}</p>}
      {text && (
        // What can be scrolled can be reached by keyboard.
        <section tabIndex={0} aria-label={say.log}>
          <pre className={`mono ${styles.log}`}>{text}</pre>
        </section>
      )}
    </Modal>
  );
}
