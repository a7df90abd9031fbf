import {
  CaretRightOutlined,
  CheckCircleFilled,
  CloseOutlined,
  ExclamationCircleFilled,
  PauseOutlined,
} from '@ant-design/icons';
import { Button, Progress } from 'antd';
import { useWords } from '@/i18n/language';
import { bytes, bytesOf } from '@/ui/amounts';
import { titleOf } from '@/ui/Failure';
import { Card } from '@/ui/Page';
import { useDetail } from '@/ui/told';
import { words as uiWords } from '@/ui/words';
import styles from '../files.module.css';
import { nameOf } from '../paths';
import { words } from '../words';
import { transfers } from './engine';
import { type Phase, type Transfer, totalsOf } from './transfer';
import { useTransfers } from './useUploads';

const MOST_SHOWN = 100;
const ORDER: Record<Phase, number> = { failed: 0, sending: 1, paused: 2, waiting: 3, done: 4 };

/** What is on its way: each file with how far it is, and all of them together. */
export function TransfersCard() {
  const say = useWords(words);
  const all = useTransfers();
  if (all.length === 0) return null;
  const { nFiles, nDone, nFailed, nPaused, nActive, sizeBytes, doneBytes } = totalsOf(all);
  const idsIn = (...phases: Phase[]) => all.filter(({ phase }) => phases.includes(phase)).map(({ id }) => id);
  const shown = all.toSorted((one, other) => ORDER[one.phase] - ORDER[other.phase]).slice(0, MOST_SHOWN);
  return (
    <Card
      isFlush
      title={say.uploads}
      extra={
        <div className={styles.tools}>
          {nActive > 0 && (
            <Button size="small" onClick={() => transfers.pause(idsIn('waiting', 'sending'))}>
              {say.pauseAll}
            </Button>
          )}
          {nPaused + nFailed > 0 && (
            <Button size="small" onClick={() => transfers.resume(idsIn('paused', 'failed'))}>
              {say.resumeAll}
            </Button>
          )}
          {nDone === nFiles ? (
            <Button size="small" onClick={() => transfers.clearDone()}>
              {say.close}
            </Button>
          ) : (
            <Button
              size="small"
              onClick={() => transfers.cancel(idsIn('waiting', 'sending', 'paused', 'failed'))}
            >
              {say.cancelAll}
            </Button>
          )}
        </div>
      }
    >
      <div className={styles.total} role="status">
        <Progress
          percent={percentOf(doneBytes, sizeBytes, nDone === nFiles)}
          status={nFailed > 0 ? 'exception' : nDone === nFiles ? 'success' : 'normal'}
          aria-label={say.uploads}
        />
        <span className="quiet">
          {say.uploadsDone(nDone, nFiles)} · {bytesOf(doneBytes, sizeBytes)}
          {nFailed > 0 && ` · ${say.uploadsFailed(nFailed)}`}
        </span>
      </div>
      <ul className={styles.transfers} aria-label={say.uploads}>
        {shown.map((one) => (
          <Row key={one.id} transfer={one} />
        ))}
      </ul>
      {all.length > shown.length && <p className={styles.rest}>{say.andMore(all.length - shown.length)}</p>}
    </Card>
  );
}

function percentOf(done: number, size: number, isWhole: boolean): number {
  if (isWhole) return 100;
  // All bytes were sent is not yet all files are there.
  return size === 0 ? 0 : Math.min(99, Math.floor((done / size) * 100));
}

function Row({ transfer }: { transfer: Transfer }) {
  const say = useWords(words);
  const { id, path, storage, file, phase, doneBytes } = transfer;
  const name = nameOf(path);
  return (
    <li>
      <div className={styles.transferName}>
        <span title={`${storage}:${path}`}>{name}</span>
        <State transfer={transfer} />
      </div>
      <Progress
        percent={percentOf(doneBytes, file.size, phase === 'done')}
        status={phase === 'failed' ? 'exception' : phase === 'done' ? 'success' : 'normal'}
        size="small"
        showInfo={false}
        aria-label={say.progressOf(name)}
      />
      <div className={styles.tools}>
        {(phase === 'sending' || phase === 'waiting') && (
          <Button
            size="small"
            type="text"
            icon={<PauseOutlined aria-hidden />}
            aria-label={say.pauseOne(name)}
            onClick={() => transfers.pause([id])}
          />
        )}
        {(phase === 'paused' || phase === 'failed') && (
          <Button
            size="small"
            type="text"
            icon={<CaretRightOutlined aria-hidden />}
            aria-label={say.resumeOne(name)}
            onClick={() => transfers.resume([id])}
          />
        )}
        <Button
          size="small"
          type="text"
          icon={<CloseOutlined aria-hidden />}
          aria-label={phase === 'done' ? say.clearOne(name) : say.cancelOne(name)}
          onClick={() => transfers.cancel([id])}
        />
      </div>
    </li>
  );
}

function State({ transfer: { phase, doneBytes, file, error, isTrying } }: { transfer: Transfer }) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const detailOf = useDetail();
  if (phase === 'failed')
    return (
      <span className={styles.bad}>
        <ExclamationCircleFilled aria-hidden /> {detailOf(error) || titleOf(error, ui)}
      </span>
    );
  if (phase === 'done')
    return (
      <span className={styles.good}>
        <CheckCircleFilled aria-hidden /> {bytes(file.size)}
      </span>
    );
  if (isTrying && phase === 'sending') return <span className="quiet">{say.tryingAgain}</span>;
  const amount = bytesOf(doneBytes, file.size);
  return <span className="quiet">{phase === 'sending' ? amount : `${say.phases[phase]} · ${amount}`}</span>;
}
