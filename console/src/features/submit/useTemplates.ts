import { useQuery } from '@tanstack/react-query';
import { strategiesQuery } from '@/api/platformQueries';
import { nodesQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useForm } from './form/context';
import { ownTemplates } from './ownTemplates';
import { templateNames } from './templates';
import { words } from './words';

const FEW_CPUS = 8;

/** The templates that this server can run, and what to say once one was filled in. */
export function useTemplates() {
  const say = useWords(words);
  const { tellReplaced } = useForm();
  const { data: strategies = [] } = useQuery(strategiesQuery);
  const { data: nodes = [] } = useQuery(nodesQuery);
  const { data: me } = useQuery(sessionQuery);
  const wordsOf = (name: string) => {
    const own = say.templates[name];
    return own ?? [name, strategies.find((one) => one.name === name)?.description].filter(Boolean).join(': ');
  };
  const tell = (name: string) => tellReplaced(say.templateApplied(name));
  return {
    /** Read each time: one may have been saved a moment ago. */
    own: ownTemplates(me?.name ?? ''),
    names: templateNames(strategies.map(({ name }) => name)),
    machine: {
      hasGpus: nodes.some(({ gpus }) => gpus.length > 0),
      isSmall: nodes.every(({ cpus }) => cpus < FEW_CPUS),
    },
    wordsOf,
    tell,
  };
}
