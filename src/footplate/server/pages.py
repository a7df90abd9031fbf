"""Pages that the server writes itself, in the console's colours; they load nothing from anywhere."""

from __future__ import annotations

from html import escape

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_STYLE = """
:root { color-scheme: light dark; --bg: #f5f6f8; --surface: #fff; --sunken: #eef0f4; --line: #d5dae2;
  --text: #1b2430; --text-2: #4d5b6d; --link: #2f54c9; --get: #1d4bb0; --post: #17612f; --put: #7d5100;
  --delete: #a8221b }
@media (prefers-color-scheme: dark) { :root { --bg: #0e1217; --surface: #161b22; --sunken: #1d232c;
  --line: #333c48; --text: #e6eaf0; --text-2: #aab5c4; --link: #93abff; --get: #a5c4ff; --post: #86da9f;
  --put: #f5c869; --delete: #ffa29b } }
* { box-sizing: border-box }
body { margin: 0; background: var(--bg); color: var(--text); font: 15px/1.55 Inter, "Segoe UI", system-ui,
  -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 64px }
a { color: var(--link) }
code, pre, .path { font-family: "JetBrains Mono", ui-monospace, Menlo, Consolas, monospace; font-size: 13px }
code { background: var(--sunken); border-radius: 4px; padding: 1px 4px }
pre { background: var(--sunken); border-radius: 6px; padding: 10px 12px; overflow-x: auto; margin: 8px 0 }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 19px; margin: 32px 0 8px; scroll-margin-top: 8px }
h3 { font-size: 14px; margin: 16px 0 4px }
.quiet { color: var(--text-2) }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 16px 0 }
details { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; margin: 6px 0 }
summary { cursor: pointer; padding: 9px 12px; display: flex; flex-wrap: wrap; gap: 2px 10px;
  align-items: baseline }
summary:focus-visible { outline: 2px solid var(--link); outline-offset: 1px }
details > div { padding: 0 14px 12px }
.verb { font-weight: 700; min-width: 58px; font-size: 13px } .verb.get, .verb.head { color: var(--get) }
.verb.post { color: var(--post) } .verb.put, .verb.patch { color: var(--put) }
.verb.delete { color: var(--delete) }
.path { font-weight: 600; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } .wide { overflow-x: auto }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0;
  border-bottom: 1px solid var(--line) }
th { font-weight: 600; color: var(--text-2); font-size: 13px }
"""


def page(title: str, body: str, language: str = "en") -> str:
    """A whole page around what is in it."""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


JOIN = page(
    "Join Footplate",
    "<h1>You are invited</h1>\n"
    "<p>This link is for a terminal. Type the line that you were sent; or, if you have the client:</p>\n"
    "<pre>footplate join 'THE LINK'</pre>\n"
    '<p class="quiet">with the whole link of this page between the quotes. It lets you choose a password and '
    "logs you in; it is good once.</p>\n"
    '<hr>\n<h1 lang="zh">您已受邀</h1>\n'
    '<p lang="zh">此链接用于终端。请输入发给您的那一行命令；如果已安装客户端，请输入：</p>\n'
    "<pre>footplate join 'THE LINK'</pre>\n"
    '<p lang="zh" class="quiet">引号中填写本页的完整链接。您将设置密码并登录；链接只能使用一次。</p>',
)
