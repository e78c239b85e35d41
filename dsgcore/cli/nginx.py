"""nginx's configuration for several servers of the app behind one address."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

MOST = len(ascii_lowercase)
_SHARES = 2  # decimals of a share in percent, as nginx reads them


def configuration(servers: Sequence[str], listen: str) -> str:
    """Return the configuration for servers at these addresses, such as "127.0.0.1:8501".

    A cookie keeps a browser at one server, because a class often has one address only. If that server ends, another one
    takes over. `listen` is nginx's own address, such as "8080" or "127.0.0.1:8080".
    """
    letters = ascii_lowercase[: len(servers)]
    share = f"{100 / len(servers):.{_SHARES}f}".rstrip("0").rstrip(".")
    shares = [f"        {share}% {letter};" for letter in letters[:-1]] + [f"        *   {letters[-1]};"]
    own = [f"        {letter} {letter};" for letter in letters]
    upstreams = [_upstream(letter, servers, at) for at, letter in enumerate(letters)]
    return _TEXT.format(
        shares="\n".join(shares), own="\n".join(own), upstreams="\n".join(upstreams), listen=listen, **_SIGNS
    )


def _upstream(letter: str, servers: Sequence[str], own: int) -> str:
    others = [f"        server {server} backup;" for at, server in enumerate(servers) if at != own]
    first = f"        server {servers[own]} max_fails=1 fail_timeout=2s;"
    return "\n".join([f"    upstream {letter} {{", first, *others, "    }"])


_SIGNS = {"open": "{", "close": "}"}
_TEXT = """\
worker_processes 1;
daemon off;
pid dsglab-nginx.pid;
error_log stderr warn;
events {open} worker_connections 1024; {close}

http {open}
    access_log off;
    client_body_temp_path dsglab-body;
    proxy_temp_path dsglab-proxy;
    fastcgi_temp_path dsglab-fastcgi;
    uwsgi_temp_path dsglab-uwsgi;
    scgi_temp_path dsglab-scgi;
    client_max_body_size 60m;  # an upload of 50 MB

    split_clients "$remote_addr$remote_port$msec" $fresh {open}
{shares}
    {close}
    map $cookie_dsglab_server $own {open}
        default $fresh;
{own}
    {close}
    map $http_upgrade $connection_kind {open}
        default upgrade;
        ""      "";
    {close}

{upstreams}

    server {open}
        listen {listen};
        absolute_redirect off;
        location / {open}
            proxy_pass http://$own;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_kind;
            proxy_connect_timeout 2s;
            proxy_read_timeout 1d;
            proxy_next_upstream error timeout;
            add_header Set-Cookie "dsglab_server=$own; Path=/; SameSite=Lax" always;
        {close}
    {close}
{close}
"""
