import { CheckOutlined, CopyOutlined } from '@ant-design/icons';
import { Button, Tooltip } from 'antd';
import { useState } from 'react';
import { useWords } from '@/i18n/language';
import { words } from './words';

const SHOWN_MS = 1500;

/** Copy a text; browsers keep the modern way to pages with TLS, so there is an old one beside it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function Copy({ text, label }: { text: string; label?: string }) {
  const say = useWords(words);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  const title = isCopied ? say.copied : say.copy;
  return (
    <Tooltip title={label ? undefined : title}>
      <Button
        size={label ? 'middle' : 'small'}
        type={label ? 'default' : 'text'}
        icon={isCopied ? <CheckOutlined aria-hidden /> : <CopyOutlined aria-hidden />}
        aria-label={label ? undefined : title}
        onClick={() => void copy()}
      >
        {label && (isCopied ? say.copied : label)}
      </Button>
    </Tooltip>
  );
}
