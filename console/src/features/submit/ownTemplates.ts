import { recallList, rememberList } from '@/app/memory';
import { isMapping, type Mapping } from './document';
import { without } from './roles';

/** A job that somebody keeps to begin others with; it stays in their browser. */
export interface OwnTemplate {
  name: string;
  doc: Mapping;
}

const MOST = 30;
const keyOf = (user: string) => `footplate.templates.${user}`;

export const ownTemplates = (user: string): OwnTemplate[] => recallList(keyOf(user), isTemplate);

const isTemplate = (given: unknown): given is OwnTemplate =>
  typeof given === 'object' &&
  given !== null &&
  typeof (given as OwnTemplate).name === 'string' &&
  isMapping((given as OwnTemplate).doc);

/** Keep a job under a name, in place of an older one of that name; a name of its own it gets when it is used. */
export function keepTemplate(user: string, name: string, doc: Mapping): void {
  const others = ownTemplates(user).filter((one) => one.name !== name);
  keep(user, [{ name, doc: without(doc, 'name') }, ...others]);
}

export function dropTemplate(user: string, name: string): void {
  keep(
    user,
    ownTemplates(user).filter((one) => one.name !== name),
  );
}

const keep = (user: string, templates: OwnTemplate[]) => rememberList(keyOf(user), templates, MOST);

/** The job of a template, under the name that was typed already. */
export const withOwnTemplate = (doc: Mapping, template: OwnTemplate): Mapping =>
  doc.name === undefined ? template.doc : { name: doc.name, ...template.doc };
