import { MoreOutlined } from '@ant-design/icons';
import { App } from 'antd';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/language';
import { MenuButton } from './MenuButton';
import { words } from './words';

interface RiskMenuProps {
  /** What it is about, such as the name of a queue. */
  of: string;
  label: string;
  icon: ReactNode;
  /** What is asked before it is done. */
  title: string;
  hint?: string;
  /** Why it cannot be done now. */
  blocked?: string;
  onOpenChange?: (isOpen: boolean) => void;
  onOk: () => void;
}

/** What cannot be taken back is behind “…”, and asks first: nothing red is the loudest on a page. */
export function RiskMenu({ of, label, icon, title, hint, blocked, onOpenChange, onOk }: RiskMenuProps) {
  const say = useWords(words);
  const { modal } = App.useApp();
  const ask = () =>
    modal.confirm({
      title,
      content: hint,
      okText: label,
      cancelText: say.cancel,
      okButtonProps: { danger: true },
      onOk,
    });
  const item = {
    key: 'risk',
    danger: true,
    disabled: blocked !== undefined,
    label: blocked === undefined ? label : say.blocked(label, blocked),
    icon,
    onClick: () => void ask(),
  };
  return (
    <MenuButton
      items={[item]}
      size="small"
      type="text"
      placement="bottomRight"
      icon={<MoreOutlined aria-hidden />}
      aria-label={say.moreOf(of)}
      onOpenChange={onOpenChange}
    />
  );
}
