import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { channelsQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { RiskMenu } from '@/ui/RiskMenu';
import { useTell } from '@/ui/useTell';
import styles from './alerts.module.css';
import { words } from './words';

type Channel = Schemas['ChannelBody'];

interface ChannelTableProps {
  channels: readonly Channel[];
  onChange: (channel: Channel) => void;
}

/** The channels, with a button to try each. */
export function ChannelTable({ channels, onChange }: ChannelTableProps) {
  const say = useWords(words);
  const columns: Column<Channel>[] = [
    {
      key: 'name',
      title: say.name,
      cell: ({ name, is_enabled }) => (
        <>
          <strong className="mono">{name}</strong>
          {!is_enabled && <span className={styles.sub}> ({say.off})</span>}
        </>
      ),
    },
    { key: 'kind', title: say.kind, cell: ({ kind }) => say.kinds[kind] },
    { key: 'target', title: say.target, cell: ({ target }) => <span className="mono">{target}</span> },
    { key: 'of', title: say.of, cell: ({ queue }) => (queue === null ? say.mine : say.queue(queue)) },
    { key: 'quiet', title: say.quiet, cell: ({ quiet, zone }) => quiet && `${quiet} (${zone})` },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (channel) => <Actions channel={channel} onChange={() => onChange(channel)} />,
    },
  ];
  return <DataTable label={say.channels} columns={columns} rows={channels} rowKey={({ id }) => id} />;
}

function Actions({ channel, onChange }: { channel: Channel; onChange: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const at = { params: { path: { channel_id: channel.id } } };
  const testing = useMutation({
    mutationFn: () => answer(api.POST('/api/v1/alerts/channels/{channel_id}/test', at)),
    onSuccess: () => done(say.tested(channel.name)),
    onError: failed,
  });
  const deleting = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/alerts/channels/{channel_id}', at)),
    onSuccess: () => done(say.deletedChannel(channel.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: channelsQuery.queryKey }),
  });
  return (
    <div className={styles.actions}>
      <Button
        size="small"
        aria-label={`${say.test} ${channel.name}`}
        loading={testing.isPending}
        onClick={() => testing.mutate()}
      >
        {say.test}
      </Button>
      <Button size="small" aria-label={`${say.change} ${channel.name}`} onClick={onChange}>
        {say.change}
      </Button>
      <RiskMenu
        of={channel.name}
        label={say.delete}
        icon={<DeleteOutlined aria-hidden />}
        title={say.deleteAsk(channel.name)}
        hint={say.deleteHint}
        onOk={() => deleting.mutate()}
      />
    </div>
  );
}
