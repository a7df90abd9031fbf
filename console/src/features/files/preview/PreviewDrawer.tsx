import { DownloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Drawer, Skeleton } from 'antd';
import { download, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Copy } from '@/ui/Copy';
import { Failure } from '@/ui/Failure';
import { Nothing } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useReturnFocus } from '@/ui/useReturnFocus';
import { useTell } from '@/ui/useTell';
import { type FileSource, previewQuery } from '../queries';
import { words } from '../words';
import { CurvesPreview } from './CurvesPreview';
import { ImagePreview } from './ImagePreview';
import styles from './preview.module.css';
import { TablePreview } from './TablePreview';

type Preview = Schemas['PreviewBody'];

interface PreviewDrawerProps {
  source: FileSource;
  onClose: () => void;
}

/** The beginning of a file, beside the folder that it lies in. */
export function PreviewDrawer({ source, onClose }: PreviewDrawerProps) {
  const say = useWords(words);
  const { failed } = useTell();
  useReturnFocus();
  const { data, error } = useQuery(previewQuery(source));
  const { name, place, address } = source;
  return (
    <Drawer
      open
      size={760}
      title={name}
      onClose={onClose}
      extra={
        <Button icon={<DownloadOutlined aria-hidden />} onClick={() => void download(address).catch(failed)}>
          {say.download}
        </Button>
      }
    >
      <dl className={styles.facts}>
        <dt>{say.place}</dt>
        <dd>
          <code>{place}</code> <Copy text={place} />
        </dd>
        {data && (
          <>
            <dt>{say.size}</dt>
            <dd>{bytes(data.entry.size_bytes)}</dd>
            {data.entry.modified_at && (
              <>
                <dt>{say.changed}</dt>
                <dd>
                  <TimeAgo at={data.entry.modified_at} />
                </dd>
              </>
            )}
          </>
        )}
      </dl>
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active />}
      {data && <Content preview={data} address={address} />}
    </Drawer>
  );
}

/** What a preview shows, by its kind. */
export function Content({ preview, address }: { preview: Preview; address: string }) {
  const say = useWords(words);
  const { entry, kind, text, rows, curves, is_cut } = preview;
  if (entry.size_bytes === 0) return <p className="quiet">{say.emptyFile}</p>;
  if (kind === 'image') return <ImagePreview preview={preview} address={address} />;
  if (kind === 'curves' && curves) return <CurvesPreview curves={curves} isCut={is_cut} />;
  if (kind === 'table' && rows) return <TablePreview rows={rows} isCut={is_cut} />;
  if (kind === 'text' && text !== null)
    return (
      <>
        <pre className={styles.text} role="region" tabIndex={0} aria-label={say.preview}>
          {text}
        </pre>
        {is_cut && (
          <p className="quiet">{say.cutText(bytes(new Blob([text]).size), bytes(entry.size_bytes))}</p>
        )}
      </>
    );
  return <Nothing title={say.noPreview} hint={say.noPreviewHint} />;
}
