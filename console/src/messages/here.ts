import type { Language } from '@/i18n/translated';
import type { Sentences } from './codes';

/** Sentences whose advice is another in a browser than on a command line. */
export const here: Record<Language, Partial<Sentences>> = {
  en: {
    secret_not_usable:
      'there is no secret {secret} that you may use in queue {queue}: add it on the page Secrets',
    secret_not_usable_by:
      'there is no secret {secret} that jobs of {owner} in queue {queue} may use: add it on the page Secrets, then submit the job again',
    code_path_without_storage: 'needs a storage; to send a local folder, drop it on the field Code',
    environment_file_without_code:
      '{file} is a file of the code, but the job has no code: add the folder in the field Code, or list the requirements',
    user_exists_invite: 'there is already a user {user}: set a new password in the menu of that user',
    no_valid_token: 'you are not signed in: sign in again',
    token_needed: 'you are not signed in: sign in again',
    token_expired: 'your session has expired: sign in again',
  },
  zh: {
    secret_not_usable: '您在队列 {queue} 中没有可用的密钥 {secret}：请在“密钥”页面添加',
    secret_not_usable_by:
      '队列 {queue} 中 {owner} 的任务没有可用的密钥 {secret}：请在“密钥”页面添加，然后重新提交任务',
    code_path_without_storage: '需要指定存储；要发送本地文件夹，请将其拖到“代码”字段',
    environment_file_without_code:
      '{file} 是代码中的文件，但任务没有代码：请在“代码”字段添加文件夹，或直接列出依赖',
    user_exists_invite: '用户 {user} 已存在：请在该用户的菜单中设置新密码',
    no_valid_token: '您尚未登录：请重新登录',
    token_needed: '您尚未登录：请重新登录',
    token_expired: '会话已过期：请重新登录',
  },
};
