import { translated } from '@/i18n/translated';

export const words = translated({
  en: {
    title: 'Sign in',
    intro: 'Submit, queue, run and watch training jobs.',
    user: 'User name',
    password: 'Password',
    signIn: 'Sign in',
    needUser: 'Enter your user name',
    needPassword: 'Enter your password',
    ended: 'Your session has ended. Sign in again to continue where you were.',
    wrong: 'Wrong user name or password.',
    help: 'No account? Ask an admin of this platform.',
  },
  zh: {
    title: '登录',
    intro: '提交、排队、运行并观察训练任务。',
    user: '用户名',
    password: '密码',
    signIn: '登录',
    needUser: '请输入用户名',
    needPassword: '请输入密码',
    ended: '登录已失效，请重新登录以继续。',
    wrong: '用户名或密码错误。',
    help: '没有账户？请联系平台管理员创建。',
  },
});
