import { PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { alertRulesQuery, channelsQuery } from '@/api/platformQueries';
import { queuesQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import styles from './alerts.module.css';
import { ChannelForm } from './ChannelForm';
import { ChannelTable } from './ChannelTable';
import { Deliveries } from './Deliveries';
import { MailCard } from './MailCard';
import { RuleForm } from './RuleForm';
import { RuleTable } from './RuleTable';
import { words } from './words';

/** Channels, rules for all jobs, and what was told. */
export function AlertsPage() {
  const say = useWords(words);
  const { data: channels, error } = useQuery(channelsQuery);
  const { data: rules } = useQuery(alertRulesQuery);
  const { data: queues = [] } = useQuery(queuesQuery);
  const [edited, setEdited] = useState<Schemas['ChannelBody'] | 'new' | null>(null);
  const [rule, setRule] = useState<Schemas['RuleBody'] | 'new' | null>(null);
  const { data: me } = useQuery(sessionQuery);
  const ruled = queues.filter(({ my_role }) => my_role === 'admin').map(({ name }) => name);
  const addChannel = (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={() => setEdited('new')}>
      {say.addChannel}
    </Button>
  );
  const addRule = (
    <Button size="small" icon={<PlusOutlined aria-hidden />} onClick={() => setRule('new')}>
      {say.addRule}
    </Button>
  );
  return (
    <Page title={say.title} actions={addChannel}>
      <p className={styles.intro}>{say.intro}</p>
      {error && !channels && <Failure error={error} />}
      <div className={styles.stack}>
        <Card title={say.channels} isFlush>
          {!channels && !error && <Skeleton active className={styles.skeleton} title={false} />}
          {channels?.length === 0 && <Nothing title={say.noChannels} hint={say.noChannelsHint} />}
          {channels && channels.length > 0 && <ChannelTable channels={channels} onChange={setEdited} />}
        </Card>
        <Card title={say.rules} extra={addRule} isFlush>
          {rules?.length === 0 && <Nothing title={say.noRules} hint={say.noRulesHint} />}
          {rules && rules.length > 0 && (
            <RuleTable rules={rules} channels={channels ?? []} onChange={setRule} />
          )}
        </Card>
        <Card title={say.told} isFlush>
          <Deliveries channels={channels ?? []} />
        </Card>
        {me?.is_admin && <MailCard />}
      </div>
      {edited && (
        <ChannelForm
          channel={edited === 'new' ? undefined : edited}
          queues={ruled}
          onClose={() => setEdited(null)}
        />
      )}
      {rule && (
        <RuleForm
          rule={rule === 'new' ? undefined : rule}
          queues={ruled}
          channels={channels ?? []}
          onClose={() => setRule(null)}
        />
      )}
    </Page>
  );
}
