import {
  AppstoreOutlined,
  AuditOutlined,
  BarChartOutlined,
  BellOutlined,
  ClusterOutlined,
  CodeSandboxOutlined,
  DatabaseOutlined,
  ExperimentOutlined,
  FieldTimeOutlined,
  FolderOutlined,
  HddOutlined,
  InboxOutlined,
  KeyOutlined,
  PartitionOutlined,
  PlusCircleOutlined,
  ReadOutlined,
  SettingOutlined,
  TeamOutlined,
  UnorderedListOutlined,
} from '@ant-design/icons';
import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Me } from '@/api/client';
import type { words } from './words';

type Words = (typeof words)['en'];

export interface Entry {
  to: NonNullable<LinkProps['to']>;
  label: (words: Words) => string;
  icon: ReactNode;
  /** Who sees the entry; everybody when absent. */
  isFor?: (me: Me) => boolean;
}

export interface Section {
  title: (words: Words) => string;
  entries: readonly Entry[];
}

const isAdmin = (me: Me) => me.is_admin;
const rulesAQueue = (me: Me) => me.is_admin || me.queues.some(({ role }) => role === 'admin');

/** The navigation, top to bottom; a page is added here once it exists. */
export const NAVIGATION: readonly Section[] = [
  {
    title: (words) => words.work,
    entries: [
      { to: '/', label: (words) => words.dashboard, icon: <AppstoreOutlined aria-hidden /> },
      { to: '/submit', label: (words) => words.submit, icon: <PlusCircleOutlined aria-hidden /> },
      { to: '/jobs', label: (words) => words.jobs, icon: <UnorderedListOutlined aria-hidden /> },
      { to: '/queue', label: (words) => words.queue, icon: <FieldTimeOutlined aria-hidden /> },
      { to: '/notebooks', label: (words) => words.notebooks, icon: <ReadOutlined aria-hidden /> },
      { to: '/files', label: (words) => words.files, icon: <FolderOutlined aria-hidden /> },
      { to: '/models', label: (words) => words.models, icon: <ExperimentOutlined aria-hidden /> },
      { to: '/usage', label: (words) => words.usage, icon: <BarChartOutlined aria-hidden /> },
      { to: '/environments', label: (words) => words.environments, icon: <InboxOutlined aria-hidden /> },
      { to: '/alerts', label: (words) => words.alerts, icon: <BellOutlined aria-hidden /> },
      { to: '/secrets', label: (words) => words.secrets, icon: <KeyOutlined aria-hidden /> },
    ],
  },
  {
    title: (words) => words.admin,
    entries: [
      {
        to: '/admin/users',
        label: (words) => words.users,
        icon: <TeamOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/queues',
        label: (words) => words.queues,
        icon: <PartitionOutlined aria-hidden />,
        isFor: rulesAQueue,
      },
      {
        to: '/admin/nodes',
        label: (words) => words.nodes,
        icon: <ClusterOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/images',
        label: (words) => words.images,
        icon: <CodeSandboxOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/types',
        label: (words) => words.types,
        icon: <HddOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/storages',
        label: (words) => words.storages,
        icon: <DatabaseOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/audit',
        label: (words) => words.audit,
        icon: <AuditOutlined aria-hidden />,
        isFor: isAdmin,
      },
      {
        to: '/admin/settings',
        label: (words) => words.settings,
        icon: <SettingOutlined aria-hidden />,
        isFor: isAdmin,
      },
    ],
  },
];
