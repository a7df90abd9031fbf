import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useEffect, useState } from 'react';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { imageQuery } from '../queries';
import { words } from '../words';
import styles from './preview.module.css';

const MOST_BYTES = 32 * 1024 ** 2;

interface ImagePreviewProps {
  preview: Schemas['PreviewBody'];
  address: string;
}

/** An image; its bytes come with the page's own key, which a plain address would lack. */
export function ImagePreview({ preview: { entry, media_type }, address }: ImagePreviewProps) {
  const say = useWords(words);
  const isFit = entry.size_bytes <= MOST_BYTES;
  const { data, error } = useQuery({ ...imageQuery(address, media_type), enabled: isFit });
  const [source, setSource] = useState<string>();
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(data);
    setSource(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (!isFit) return <p className="quiet">{say.imageTooLarge(bytes(MOST_BYTES))}</p>;
  if (error) return <Failure error={error} />;
  if (!source) return <Skeleton.Image active />;
  return <img className={styles.image} src={source} alt={say.imageOf(entry.name)} />;
}
