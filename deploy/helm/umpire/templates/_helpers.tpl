{{- define "umpire.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "umpire.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "umpire.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "umpire.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "umpire.selectorLabels" -}}
app.kubernetes.io/name: {{ include "umpire.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "umpire.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "umpire.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "umpire.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "umpire.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "umpire.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* Anything, if there is a database. */}}
{{- define "umpire.hasDatabase" -}}
{{- if or .Values.database.url .Values.database.existingSecret }}yes{{ end }}
{{- end }}

{{/* Whether this release has a secret of its own. */}}
{{- define "umpire.hasSecret" -}}
{{- if or (and .Values.database.url (not .Values.database.existingSecret)) (and .Values.apiKey.value (not .Values.apiKey.existingSecret)) }}yes{{ end }}
{{- end }}

{{/* What the schema cannot say: values that exclude one another, and secrets, which its messages would repeat. */}}
{{- define "umpire.check" -}}
{{- if and .Values.database.url (not (regexMatch "^postgres(ql)?://" .Values.database.url)) }}
{{- fail "database.url does not begin with postgres://" }}
{{- end }}
{{- if and .Values.apiKey.value (not (regexMatch "^[!-~]{16,200}$" .Values.apiKey.value)) }}
{{- fail "apiKey.value is not 16 to 200 visible ASCII characters" }}
{{- end }}
{{- $several := or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}
{{- if and $several (not (include "umpire.hasDatabase" .)) }}
{{- fail "several pods need one database: set database.url or database.existingSecret, or replicas: 1 without autoscaling" }}
{{- end }}
{{- if and .Values.database.url .Values.database.existingSecret }}
{{- fail "database.url and database.existingSecret exclude each other" }}
{{- end }}
{{- if and .Values.apiKey.value .Values.apiKey.existingSecret }}
{{- fail "apiKey.value and apiKey.existingSecret exclude each other" }}
{{- end }}
{{- if and $several .Values.persistence.enabled (not (has "ReadWriteMany" .Values.persistence.accessModes)) (not .Values.persistence.existingClaim) }}
{{- fail "several pods cannot share a volume of ReadWriteOnce: persistence.enabled: false suits servers on PostgreSQL" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail "autoscaling.minReplicas is above autoscaling.maxReplicas" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.enabled needs ingress.host" }}
{{- end }}
{{- range $name := list "host" "port" "dataDir" "databaseUrl" "apiKey" }}
{{- if hasKey $.Values.config $name }}
{{- fail (printf "config.%s is not for the configuration file: the chart sets it" $name) }}
{{- end }}
{{- end }}
{{- end }}
