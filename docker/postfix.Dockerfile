# Postfix with spamass-milter, as in docs/how-to/postfix.md. Mails to any user of `example` go to one mailbox.
ARG DEBIAN=debian:12.11-slim
FROM ${DEBIAN}
# The packages get the security updates of the release.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        postfix spamass-milter spamc \
    && rm -rf /var/lib/apt/lists/*
RUN postconf -e \
        'smtpd_milters = inet:127.0.0.1:7831' \
        'milter_default_action = accept' \
        'mydestination = example' \
        'local_recipient_maps =' \
        'luser_relay = mail@example' \
        'maillog_file = /dev/stdout'
EXPOSE 25
# Postfix is process 1 and ends with SIGTERM; the milter ends with the container.
CMD ["sh", "-c", "spamass-milter -f -p inet:7831@127.0.0.1 -u all -I -r 15 -- -d filter -p 7830 && exec postfix start-fg"]
