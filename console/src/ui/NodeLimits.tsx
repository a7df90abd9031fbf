import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { translated } from '@/i18n/translated';
import type { Words } from '@/messages/codes';
import styles from './nodelimits.module.css';
import { useTold } from './told';

type Node = Pick<Schemas['NodeBody'], 'enforced' | 'unenforced'>;

const words = translated({
  en: {
    enforced: 'Enforced limits',
    unenforced: 'Not enforced',
    limits: {
      cpus: 'CPUs',
      memory: 'memory',
      gpus: 'GPUs',
      shm: 'shared memory',
      processes: 'processes',
      files: 'files',
      isolation: 'isolation',
      accounts: 'accounts',
    } satisfies Words['limit'],
  },
  zh: {
    enforced: '强制执行的限制',
    unenforced: '未强制执行',
    limits: {
      cpus: 'CPU',
      memory: '内存',
      gpus: 'GPU',
      shm: '共享内存',
      processes: '进程数',
      files: '文件',
      isolation: '隔离',
      accounts: '账户',
    } satisfies Words['limit'],
  },
});

/** What tasks are really held to on a machine, what they are not, and why. */
export function NodeLimits({ node: { enforced, unenforced } }: { node: Node }) {
  const say = useWords(words);
  const told = useTold();
  return (
    <dl className={styles.limits}>
      <dt>{say.enforced}</dt>
      <dd className={styles.names}>
        {enforced.map((limit) => (
          <span key={limit} className={styles.name}>
            {say.limits[limit as keyof typeof say.limits] ?? limit}
          </span>
        ))}
        {enforced.length === 0 && '–'}
      </dd>
      {unenforced && (
        <>
          <dt>{say.unenforced}</dt>
          <dd>{told(unenforced)}</dd>
        </>
      )}
    </dl>
  );
}
