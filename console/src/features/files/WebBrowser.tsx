import { getRouteApi } from '@tanstack/react-router';
import { Button, Form, Input } from 'antd';
import { useWords } from '@/i18n/language';
import { Card } from '@/ui/Page';
import { folderOf, joined, nameOf, tidy } from './paths';
import { PreviewDrawer } from './preview/PreviewDrawer';
import { type Storage, storageFile } from './queries';
import { words } from './words';

const route = getRouteApi('/shell/files');

/** A storage without lists: its files are found by their paths only. */
export function WebBrowser({ storage }: { storage: Storage }) {
  const say = useWords(words);
  const { path = '', file } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (typed: string) => {
    const wanted = tidy(typed);
    if (wanted)
      void navigate({
        search: { storage: storage.name, path: folderOf(wanted) || undefined, file: nameOf(wanted) },
      });
  };
  return (
    <Card title={storage.name}>
      <p className="quiet">{say.webHint}</p>
      <Form layout="inline" onFinish={({ typed }: { typed: string }) => open(typed ?? '')}>
        <Form.Item name="typed" label={say.webPath} initialValue={file ? joined(path, file) : ''}>
          <Input />
        </Form.Item>
        <Button htmlType="submit">{say.open}</Button>
      </Form>
      {file && (
        <PreviewDrawer
          source={storageFile(storage.name, joined(path, file))}
          onClose={() => void navigate({ search: (now) => ({ ...now, file: undefined }) })}
        />
      )}
    </Card>
  );
}
