import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { alertRulesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { RiskMenu } from '@/ui/RiskMenu';
import { useTell } from '@/ui/useTell';
import styles from './alerts.module.css';
import { words } from './words';

type Rule = Schemas['RuleBody'];
type Channel = Schemas['ChannelBody'];

interface RuleTableProps {
  rules: readonly Rule[];
  channels: readonly Channel[];
  onChange: (rule: Rule) => void;
}

/** The rules that look at all jobs. */
export function RuleTable({ rules, channels, onChange }: RuleTableProps) {
  const say = useWords(words);
  const events: Record<string, string> = say.events;
  const nameOf = (id: string) => channels.find((one) => one.id === id)?.name ?? id;
  const columns: Column<Rule>[] = [
    { key: 'on', title: say.on, cell: ({ on }) => on.map((word) => events[word] ?? word).join(', ') },
    { key: 'level', title: say.level, cell: ({ level }) => say.levels[level] },
    { key: 'of', title: say.of, cell: ({ queue }) => (queue === null ? say.mine : say.queue(queue)) },
    {
      key: 'through',
      title: say.through,
      cell: (rule) => rule.channels.map(nameOf).join(', ') || say.allChannels,
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (rule) => <Actions rule={rule} onChange={() => onChange(rule)} />,
    },
  ];
  return <DataTable label={say.rules} columns={columns} rows={rules} rowKey={({ id }) => id} />;
}

function Actions({ rule, onChange }: { rule: Rule; onChange: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const name = `${say.rule} ${rule.id}`;
  const deleting = useMutation({
    mutationFn: () =>
      answer(api.DELETE('/api/v1/alerts/rules/{rule_id}', { params: { path: { rule_id: rule.id } } })),
    onSuccess: () => done(say.deletedRule),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: alertRulesQuery.queryKey }),
  });
  return (
    <div className={styles.actions}>
      <Button size="small" aria-label={`${say.change} ${name}`} onClick={onChange}>
        {say.change}
      </Button>
      <RiskMenu
        of={name}
        label={say.delete}
        icon={<DeleteOutlined aria-hidden />}
        title={say.deleteAsk(name)}
        hint={say.deleteRuleHint}
        onOk={() => deleting.mutate()}
      />
    </div>
  );
}
