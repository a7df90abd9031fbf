import { Button, type ButtonProps, Dropdown, type DropdownProps, type MenuProps } from 'antd';
import { useRef } from 'react';

interface MenuButtonProps
  extends ButtonProps,
    Pick<DropdownProps, 'placement' | 'open' | 'onOpenChange'>,
    Pick<MenuProps, 'selectedKeys'> {
  items: NonNullable<MenuProps['items']>;
}

/** A button with a menu. It has the focus before anything is chosen: dialogs give it back there, not to the menu. */
export function MenuButton({
  items,
  selectedKeys,
  placement,
  open,
  onOpenChange,
  ...button
}: MenuButtonProps) {
  const ref = useRef<HTMLButtonElement>(null);
  const led = items.map((item) => {
    if (!item || !('onClick' in item)) return item;
    const { onClick } = item;
    return {
      ...item,
      onClick: (info: Parameters<NonNullable<typeof onClick>>[0]) => {
        ref.current?.focus();
        onClick?.(info);
      },
    };
  }) as MenuProps['items'];
  return (
    <Dropdown
      trigger={['click']}
      menu={{ items: led, selectedKeys }}
      placement={placement}
      open={open}
      onOpenChange={onOpenChange}
    >
      <Button ref={ref} {...button} />
    </Dropdown>
  );
}
