import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { imagesQuery } from '@/api/platformQueries';
import { enginesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Coded } from '@/ui/Coded';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';
import { ImageForm } from './ImageForm';

type Image = Schemas['ImageBody'];

/** The images that people are offered. */
export function ImagesPage() {
  const say = useWords(words);
  const { data: images, error } = useQuery(imagesQuery);
  const { data: engines } = useQuery(enginesQuery);
  const runsNone = engines?.every(({ runs_images }) => !runs_images) ?? false;
  const [edited, setEdited] = useState<Image | 'new' | null>(null);
  const columns: Column<Image>[] = [
    {
      key: 'name',
      title: say.name,
      cell: ({ name, is_default }) => (
        <span className={styles.heading}>
          <strong>{name}</strong>
          {is_default && (
            <span className={styles.tag} data-tone="accent">
              {say.images.default}
            </span>
          )}
        </span>
      ),
    },
    {
      key: 'reference',
      title: say.images.reference,
      isWide: true,
      cell: ({ reference, description }) => (
        <>
          <code>{reference}</code>
          {description && <div className={styles.detail}>{description}</div>}
        </>
      ),
    },
    {
      key: 'framework',
      title: say.images.framework,
      cell: ({ framework, version }) => [framework, version].filter(Boolean).join(' ') || '–',
    },
    { key: 'updated', title: say.images.updated, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (image) => <Actions image={image} onEdit={() => setEdited(image)} />,
    },
  ];
  const add = (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={() => setEdited('new')}>
      {say.images.add}
    </Button>
  );
  return (
    <AdminOnly title={say.images.title}>
      <Page title={say.images.title} actions={add}>
        <p className={styles.intro}>{say.images.intro}</p>
        {error && !images && <Failure error={error} />}
        {runsNone && (
          <Alert
            className={styles.notice}
            type="warning"
            showIcon
            title={say.images.runsNone}
            description={<Coded text={say.images.runsNoneHint} />}
          />
        )}
        <Card isFlush>
          {!images && !error && <Skeleton active className={styles.skeleton} title={false} />}
          {images?.length === 0 && (
            <Nothing title={say.images.none} hint={runsNone ? undefined : say.images.noneHint} />
          )}
          {images && images.length > 0 && (
            <DataTable label={say.images.title} columns={columns} rows={images} rowKey={({ name }) => name} />
          )}
        </Card>
        {edited && (
          <ImageForm image={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />
        )}
      </Page>
    </AdminOnly>
  );
}

function Actions({ image, onEdit }: { image: Image; onEdit: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const deleting = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/images/{name}', { params: { path: { name: image.name } } })),
    onSuccess: () => done(say.images.deleted(image.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: imagesQuery.queryKey }),
  });
  return (
    <div className={styles.actions}>
      <Button size="small" aria-label={say.images.edit(image.name)} onClick={onEdit}>
        {say.edit}
      </Button>
      <RiskMenu
        of={image.name}
        label={say.delete}
        icon={<DeleteOutlined aria-hidden />}
        title={say.images.deleteAsk(image.name)}
        onOk={() => deleting.mutate()}
      />
    </div>
  );
}
