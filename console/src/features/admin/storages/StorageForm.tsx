import { useQuery } from '@tanstack/react-query';
import { Form, Input, Select, Switch } from 'antd';
import { answer, api } from '@/api/client';
import { storagesQuery, usersQuery } from '@/api/platformQueries';
import { queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';
import {
  bodyOf,
  CREDENTIALS,
  type Fields,
  fieldsOf,
  type Kind,
  POSITIVE_OR_NONE,
  STORAGE_NAME,
  type Storage,
} from './fields';
import { words } from './words';

/** Add a storage, or change one that is kept in the database. */
export function StorageForm({ storage, onClose }: { storage?: Storage; onClose: () => void }) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const kind = Form.useWatch('kind', form) ?? storage?.kind ?? 'folder';
  const saving = useSaving({
    form,
    save: (fields: Fields) => {
      const body = bodyOf({ ...fieldsOf(storage), ...fields });
      if (storage)
        return answer(
          api.PATCH('/api/v1/storages/{name}', { params: { path: { name: storage.name } }, body }),
        );
      const { name, per_user = false } = fields;
      return answer(api.POST('/api/v1/storages', { body: { ...body, name, kind, per_user } }));
    },
    onSaved: ({ name }) => {
      done(say.saved(name));
      onClose();
    },
    changes: storagesQuery.queryKey,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={storage ? say.edit(storage.name) : say.add}
      okText={storage ? admin.save : say.add}
      cancelText={admin.cancel}
      isSaving={saving.isPending}
      first="name"
      width={640}
      initialValues={fieldsOf(storage)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="name"
        label={say.name}
        rules={[{ required: true, pattern: STORAGE_NAME, message: say.badName }]}
      >
        <Input disabled={Boolean(storage)} />
      </Form.Item>
      <Form.Item name="kind" label={say.kind} extra={say.kindHelp[kind]}>
        <Select
          disabled={Boolean(storage)}
          options={(['folder', 's3', 'http'] as const).map((value) => ({ value, label: say.kinds[value] }))}
        />
      </Form.Item>
      <Form.Item name="description" label={admin.description}>
        <Input maxLength={1024} />
      </Form.Item>
      <Place kind={kind} storage={storage} />
      {kind !== 'folder' && <Credentials kind={kind} isPrivate={storage?.is_private ?? false} />}
      <Rights kind={kind} isPerUser={storage?.per_user ?? false} />
      <Form.Item
        name="quota_bytes"
        label={say.quotaLabel}
        extra={say.quotaHelp}
        rules={[{ pattern: POSITIVE_OR_NONE, message: say.badNumber }]}
      >
        <Input inputMode="decimal" />
      </Form.Item>
    </FormDialog>
  );
}

function Place({ kind, storage }: { kind: Kind; storage: Storage | undefined }) {
  const say = useWords(words);
  const needed = [{ required: true, whitespace: true, message: say.needed }];
  if (kind === 'folder')
    return (
      <>
        {/* One that the server keeps itself says no path. */}
        {(!storage || storage.path) && (
          <Form.Item name="path" label={say.path} rules={storage ? undefined : needed}>
            <Input placeholder="/srv/datasets" />
          </Form.Item>
        )}
        {!storage && (
          <Form.Item name="per_user" label={say.each} valuePropName="checked">
            <Switch />
          </Form.Item>
        )}
      </>
    );
  return (
    <>
      <Form.Item
        name="endpoint"
        label={say.endpoint}
        extra={kind === 's3' ? say.endpointHelp : undefined}
        rules={kind === 'http' ? needed : undefined}
      >
        <Input placeholder="https://minio.example.com" />
      </Form.Item>
      {kind === 's3' && (
        <>
          <Form.Item name="bucket" label={say.bucket} rules={needed}>
            <Input />
          </Form.Item>
          <div className={styles.pair}>
            <Form.Item name="region" label={say.region}>
              <Input />
            </Form.Item>
            <Form.Item name="prefix" label={say.prefix} extra={say.prefixHelp}>
              <Input />
            </Form.Item>
          </div>
          <Form.Item name="virtual_style" label={say.virtual} valuePropName="checked">
            <Switch />
          </Form.Item>
        </>
      )}
    </>
  );
}

function Credentials({ kind, isPrivate }: { kind: Kind; isPrivate: boolean }) {
  const say = useWords(words);
  const labels = {
    access_key_id: say.accessKey,
    secret_access_key: say.secretKey,
    session_token: say.sessionToken,
    username: say.username,
    password: say.password,
    token: say.token,
  };
  const isShown = (name: string) => name === 'access_key_id' || name === 'username';
  return (
    <fieldset className={styles.fieldset}>
      <legend>{say.credentials}</legend>
      <p className="quiet">{isPrivate ? say.credentialsKept : say.credentialsHelp}</p>
      {CREDENTIALS[kind].map((name) => (
        <Form.Item key={name} name={['credentials', name]} label={labels[name]}>
          {isShown(name) ? <Input /> : <Input.Password autoComplete="new-password" />}
        </Form.Item>
      ))}
      {isPrivate && (
        <Form.Item name="forgets" label={say.forget} valuePropName="checked">
          <Switch />
        </Form.Item>
      )}
    </fieldset>
  );
}

function Rights({ kind, isPerUser }: { kind: Kind; isPerUser: boolean }) {
  const say = useWords(words);
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data: users = [] } = useQuery(usersQuery);
  if (isPerUser) return null;
  const writers = [
    ...users.map(({ name }) => ({ value: `user:${name}`, label: say.writerUser(name) })),
    ...queues.map(({ name }) => ({ value: `queue:${name}`, label: say.writerQueue(name) })),
  ];
  const named = (list: readonly { name: string }[]) => list.map(({ name }) => ({ value: name, label: name }));
  return (
    <>
      <div className={styles.pair}>
        <Form.Item name="queues" label={say.queues} extra={say.whoHelp}>
          <Select mode="multiple" options={named(queues)} />
        </Form.Item>
        <Form.Item name="users" label={say.users}>
          <Select mode="multiple" options={named(users)} />
        </Form.Item>
      </div>
      {kind !== 'http' && (
        <>
          <Form.Item name="writers" label={say.writers} extra={say.writersHelp}>
            <Select mode="multiple" options={writers} />
          </Form.Item>
          <Form.Item name="read_only" label={say.readOnlyLabel} valuePropName="checked">
            <Switch />
          </Form.Item>
        </>
      )}
    </>
  );
}
