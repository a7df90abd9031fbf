import { FilterOutlined, TableOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Checkbox, Form, Input, type MenuProps, Popover } from 'antd';
import { useState } from 'react';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { MenuButton } from '@/ui/MenuButton';
import { COLUMNS, type ColumnName } from './columns';
import styles from './jobs.module.css';
import { isSameView, keepViews, keptViews, MOST_VIEWS, type View, viewOf } from './views';
import { words } from './words';

const route = getRouteApi('/shell/jobs');

interface ColumnChoiceProps {
  chosen: ColumnName[];
  onChoose: (chosen: ColumnName[]) => void;
}

/** Which columns the table has; the choice is remembered. */
export function ColumnChoice({ chosen, onChoose }: ColumnChoiceProps) {
  const say = useWords(words);
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      content={
        <Checkbox.Group
          className={styles.columnChoice}
          value={chosen}
          onChange={onChoose}
          options={COLUMNS.map((value) => ({ value, label: say.columnNames[value] }))}
        />
      }
    >
      <Button icon={<TableOutlined aria-hidden />}>{say.columns}</Button>
    </Popover>
  );
}

/** Filters that somebody saved under a name. */
export function Views() {
  const say = useWords(words);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: me } = useQuery(sessionQuery);
  const user = me?.name ?? '';
  const [views, setViews] = useState(() => keptViews(user));
  const [isNaming, setNaming] = useState(false);
  const current = views.find((view) => isSameView(view.search, search));
  const isFiltered = Object.keys(viewOf(search)).length > 0;
  const keep = (changed: View[]) => {
    keepViews(user, changed);
    setViews(changed);
  };
  const items: NonNullable<MenuProps['items']> = [
    ...views.map((view) => ({
      key: `view ${view.name}`,
      label: view.name,
      onClick: () => void navigate({ search: view.search }),
    })),
    ...(views.length > 0 ? [{ type: 'divider' as const }] : []),
    {
      key: 'save',
      label: say.saveView,
      disabled: !isFiltered || current !== undefined || views.length >= MOST_VIEWS,
      onClick: () => setNaming(true),
    },
    ...(current
      ? [
          {
            key: 'remove',
            label: say.removeView(current.name),
            onClick: () => keep(views.filter((view) => view !== current)),
          },
        ]
      : []),
  ];
  return (
    <>
      <MenuButton
        items={items}
        selectedKeys={current ? [`view ${current.name}`] : []}
        icon={<FilterOutlined aria-hidden />}
      >
        {current?.name ?? say.views}
      </MenuButton>
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={(name) => {
            keep([...views.filter((view) => view.name !== name), { name, search: viewOf(search) }]);
            setNaming(false);
          }}
        />
      )}
    </>
  );
}

function NameView({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const say = useWords(words);
  const [form] = Form.useForm<{ name: string }>();
  return (
    <FormDialog<{ name: string }>
      form={form}
      title={say.saveView}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={false}
      first="name"
      initialValues={{ name: '' }}
      onFinish={({ name }) => onName(name.trim())}
      onClose={onClose}
    >
      <Form.Item
        name="name"
        label={say.viewName}
        rules={[{ required: true, whitespace: true, message: say.needed }]}
      >
        <Input maxLength={40} />
      </Form.Item>
    </FormDialog>
  );
}
