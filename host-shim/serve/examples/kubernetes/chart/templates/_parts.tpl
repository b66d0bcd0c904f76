{{- define "callgate.labels" -}}
app.kubernetes.io/name: callgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "callgate.metadata" -}}
name: {{ .Release.Name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "callgate.labels" . | nindent 2 }}
{{- end }}

{{- /* What every Pod says of itself. */}}
{{- define "callgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  # It may read the Secrets.
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
terminationGracePeriodSeconds: {{ add .Values.notice .Values.drain 15 }}
{{- end }}

{{- define "callgate.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "callgate.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ if hasPrefix "sha256:" $tag }}@{{ else }}:{{ end }}{{ $tag }}
{{- end }}

{{- /* The flags that both modes have. */}}
{{- define "callgate.flags" -}}
- --bundle={{ .Values.bundle.address }}
- --bundle-name={{ .Values.bundle.name }}
{{- range $at, $_ := .Values.bundle.keys }}
- --bundle-key=/etc/callgate/keys/{{ $at }}.pub
{{- end }}
- --bundle-refresh={{ .Values.bundle.refresh }}
{{- if .Values.onlyTools }}
- --only-tools
{{- end }}
{{- if .Values.audit.claim }}
# A file for each Pod.
- --audit=/var/log/callgate/$(POD).jsonl
{{- end }}
{{- end }}

{{- define "callgate.env" -}}
env:
  # The last good bundle, and the highest revision that was used.
  - { name: XDG_CACHE_HOME, value: /var/lib/callgate/cache }
  - { name: XDG_STATE_HOME, value: /var/lib/callgate/state }
  {{- if .Values.audit.claim }}
  - name: POD
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  {{- end }}
  {{- with .Values.bundle.credentialsSecret }}
  - name: CALLGATE_BUNDLE_CREDENTIALS
    valueFrom: { secretKeyRef: { name: {{ . }}, key: credentials } }
  {{- end }}
{{- end }}

{{- define "callgate.mounts" -}}
- { name: keys, mountPath: /etc/callgate/keys, readOnly: true }
- { name: state, mountPath: /var/lib/callgate }
{{- if .Values.audit.claim }}
- { name: log, mountPath: /var/log/callgate }
{{- end }}
{{- end }}

{{- define "callgate.volumes" -}}
- name: keys
  configMap: { name: {{ .Release.Name }}-keys }
- name: state
  emptyDir: { sizeLimit: 256Mi }
{{- with .Values.audit.claim }}
- name: log
  persistentVolumeClaim: { claimName: {{ . }} }
{{- end }}
{{- end }}
