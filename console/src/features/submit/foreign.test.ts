import { describe, expect, it } from 'vitest';
import { readText } from './text';

const FFDL = 'name: m\nlearners: 1\ndata_stores: []\nframework: {name: tensorflow, command: x}\n';

const FOREIGN = {
  pai_v1: '{"jobName": "mnist", "taskRoles": [{"name": "main"}]}',
  pai_v2: 'protocolVersion: 2\nname: mnist\ntaskRoles:\n  train: {instances: 1}\n',
  ffdl: FFDL,
  prophecis: `${FFDL}namespace: ns-test\ncode_selector: codeFile\n`,
  kubernetes: 'apiVersion: batch/v1\nkind: Job\n',
  sbatch: '#!/bin/bash\n#SBATCH --gres=gpu:2\nsrun python train.py\n',
};

describe('job files of other systems', () => {
  it.each(Object.entries(FOREIGN))('%s is told by its name', (format, text) => {
    expect(readText(text, 'yaml').fault).toMatchObject({ code: 'FOREIGN', foreign: format });
  });

  it.each([
    ['pai_v2', 'name: x\ntaskRoles: {a: {commands: [ls]}}\n'],
    ['pai_v1', '{"jobName": "x", "taskRoles": {}}'],
    ['ffdl', 'name: x\nlearners: 1\ndata_stores: []\n'],
  ])('%s is told although something is forgotten', (format, text) => {
    expect(readText(text, 'yaml').fault).toMatchObject({ code: 'FOREIGN', foreign: format });
  });

  it('one of ours is read whatever it speaks of', () => {
    const text = '# once: #SBATCH --gres=gpu:2\nname: mine\ndescription: "protocolVersion: 2"\n';
    expect(readText(text, 'yaml').doc).toEqual({ name: 'mine', description: 'protocolVersion: 2' });
  });
});
