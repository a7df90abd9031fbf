import { useLanguage } from '@/i18n/language';

/** What the server says of the storages that it makes itself, at its first start. */
const ZH: Record<string, string> = {
  'Your own files; nobody else sees them': '您自己的文件，他人不可见',
  'Files that everybody here can read and change': '所有人可读写的共享文件',
};

/** A way to tell what a storage is for in the reader's language; what admins wrote stays as it is. */
export function useDescription(): (description: string) => string {
  const { language } = useLanguage();
  return (description) => (language === 'zh' ? ZH[description] : undefined) ?? description;
}
