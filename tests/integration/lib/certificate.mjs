// certificate.mjs - a certificate that signs itself, for a server of a test.
import { execFileSync } from 'node:child_process';

/** Makes the files `key` and `file` of a certificate for `name`. */
export function selfSigned(name, key, file) {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-keyout', key, '-out', file], { stdio: 'ignore' });
}
