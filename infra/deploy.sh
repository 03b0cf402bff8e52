#!/usr/bin/env bash
# shellcheck disable=SC2013,SC2016
#
# Deploys Surehook: a release with the AWS CLI alone, or, as `make deploy`, the source with CDK.
# It removes what a failed creation left, shows what changes, asks the API afterwards, and brings
# the version before back if the API fails.
set -euo pipefail

version=@VERSION@

usage() {
	cat <<END
Surehook $version

usage: ./deploy.sh --bucket BUCKET [--environment dev|staging|prod] [--stack NAME] [--check] [--clean] [--drop "NAME ..."] [--replace "ID ..."]
       [--tag NAME=VALUE ...] [--role ARN] [--notify ARN ...] [Parameter=value ...]

  --bucket       your bucket for the functions and the template, in the region of the stack
  --environment  the template: prod, the default, protects its data from removal
  --stack        the stack, and the prefix of all names; surehook-ENVIRONMENT by default
  --check        only check that the account is ready; nothing is made
  --clean        remove what a failed first deployment left, without a question
  --drop         settings, such as PORTAL_NAME, that the stack has and may lose
  --replace      resources with data, such as TableCD117FA1, that the stack may lose
  --tag          a tag of the stack and its resources; NAME= removes one
  --role         a role with which CloudFormation works, now and later, in place of your permissions
  --notify       an SNS topic that hears what CloudFormation does; together all that do

Parameters and tags that are not given keep the value of the last deployment, or have the default of
the template. An empty value, such as AlarmEmail=, means none. Credentials and region come
from the environment, as for every command of the AWS CLI.
END
}

say() { echo "deploy.sh: $*" >&2; }

fail() {
	say "$*"
	exit 1
}

# --cdk is for make deploy: what follows -- is for the command line of CDK.
bucket='' environment=prod stack='' parameters=() tags=() role='' topics=() check='' clean='' drop='' replace='' bring_back='' cdk='' context=()
while [ $# -gt 0 ]; do
	case "$1" in
	--bucket | --environment | --stack | --drop | --replace | --tag | --role | --notify)
		[ -n "${2-}" ] || fail "$1 needs a value"
		case "$1" in
		--bucket) bucket=$2 ;;
		--environment) environment=$2 ;;
		--stack) stack=$2 ;;
		--drop) drop=$2 ;;
		--replace) replace=$2 ;;
		--tag)
			[[ "$2" == ?*=* ]] || fail "$2 is not a tag such as team=web"
			tags+=("$2")
			;;
		--role) role=$2 ;;
		--notify) topics+=("$2") ;;
		esac
		shift 2
		;;
	--check) check=yes && shift ;;
	--clean) clean=yes && shift ;;
	--cdk) cdk=yes && shift ;;
	--) shift && context=("$@") && break ;;
	-h | --help) usage && exit ;;
	AssetsBucket=* | AssetsPrefix=*) fail "${1%%=*} comes from --bucket and the version" ;;
	[A-Z]*=*) parameters+=("$1") && shift ;;
	*) fail "$1 is not an option, and not a parameter such as AlarmEmail=oncall@example.com; see ./deploy.sh --help" ;;
	esac
done
[ -n "$bucket$cdk" ] || fail "name your bucket: --bucket BUCKET; see ./deploy.sh --help"
stack=${stack:-surehook-$environment}
# The names of resources begin with the name of the stack, and have limits of their own.
[[ "$stack" =~ ^[a-z][a-z0-9-]{0,38}[a-z0-9]$ ]] \
	|| fail "the stack $stack is not 2 to 40 lowercase letters, digits and hyphens with a letter first and no hyphen last"

cd "$(dirname "$0")"
template=surehook-$environment.template.json
[ -z "$cdk" ] || template=cdk.out/$stack.template.json
[ -f "$template" ] || fail "the environment $environment has no template $template here"
known=$(sed -n '/^ "Parameters": {/,/^ }/s/^  "\([A-Za-z0-9]*\)": {.*/\1/p' "$template" | tr '\n' ' ')
for one in ${parameters[@]+"${parameters[@]}"}; do
	[[ " $known" == *" ${one%%=*} "* ]] || fail "$template has no parameter ${one%%=*}, but: ${known#AssetsBucket AssetsPrefix }"
done
archives=$(sed -n 's/^ *"\/\([a-z-]*\.zip\)",*$/\1/p' "$template" | sort -u)
for one in $archives; do
	[ -f "$one" ] || fail "$one is missing, and $template needs it"
done
command -v aws > /dev/null || fail "the AWS CLI is missing: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
if [ -z "$cdk" ]; then
	sums=(sha256sum)
	command -v sha256sum > /dev/null || sums=(shasum -a 256) # macOS
	"${sums[@]}" --check --quiet --ignore-missing checksums.txt || fail "the files are not those of $version: download the release again"
fi

cloudformation() { aws cloudformation "$1" --stack-name "$stack" "${@:2}"; }

await() { aws cloudformation wait "$1" --stack-name "$stack" "${@:2}"; }

# stack_status prints the status of the stack, or none.
stack_status() {
	local out
	if out=$(cloudformation describe-stacks --query 'Stacks[0].StackStatus' --output text 2>&1); then
		echo "$out"
	elif [[ "$out" == *"does not exist"* ]]; then
		echo none
	else
		fail "$out"
	fi
}

caller=$(aws sts get-caller-identity --query '[Account,Arn]' --output text)
read -r account arn <<< "$caller"
partition=$(cut -d: -f2 <<< "$arn")
region=${AWS_REGION:-${AWS_DEFAULT_REGION:-$(aws configure get region || true)}}
[ -n "$region" ] || fail "no region: set AWS_REGION"
status=$(stack_status)
creation=''
case "$status" in
none | REVIEW_IN_PROGRESS | ROLLBACK_COMPLETE | ROLLBACK_FAILED | CREATE_FAILED) creation=yes ;;
UPDATE_ROLLBACK_FAILED) fail "an update of $stack failed, and so did its rollback. Look for the cause in the events of the stack, then run: aws cloudformation continue-update-rollback --stack-name $stack" ;;
DELETE_FAILED) fail "the removal of $stack failed. Look for the cause in the events of the stack, and remove it first" ;;
*_IN_PROGRESS) fail "$stack is $status: wait until that has ended" ;;
esac

# --- Checks before anything is made

wrong=0
found() { # RESULT WHAT
	[ "$1" != FAIL ] || wrong=$((wrong + 1))
	printf '%-4s  %s\n' "$1" "$2"
}

# total prints the sum of a number in the template. The sender of private receivers is there only
# with their parameter.
total() {
	local without=''
	[[ "$known" != *" PrivateCidrs "* ]] || [ -n "$(given PrivateCidrs)" ] || without='/^  "PrivateSender[0-9A-F]*": {/,/^  }/d'
	{ sed "$without" "$template" | grep -o "\"$1\": [0-9]*" || true; } | awk '{ sum += $2 } END { print sum + 0 }'
}

given() { # the last value of a parameter of the command line; 1 if it is not there
	local one value='' found=1
	for one in ${parameters[@]+"${parameters[@]}"}; do
		[ "${one%%=*}" != "$1" ] || { value=${one#*=} found=0; }
	done
	echo "$value"
	return "$found"
}

check_concurrency() {
	local limit free need reserved
	need=$(total MaximumConcurrency) reserved=$(total ReservedConcurrentExecutions)
	limit=$(aws lambda get-account-settings --query 'AccountLimit.[ConcurrentExecutions,UnreservedConcurrentExecutions]' --output text 2> /dev/null) || limit=''
	read -r limit free <<< "$limit"
	if [ -z "$limit" ]; then
		found SKIP "the quota of Lambda cannot be read"
	elif [ "$reserved" -gt 0 ] && [ $((free - reserved)) -lt 100 ]; then
		found FAIL "$reserved executions are to be reserved, $free are unreserved, and AWS keeps 100"
	elif [ "$limit" -lt $((need + reserved)) ]; then
		found WARN "Lambda runs $limit executions at once in this account and region, and the queues take up to $((need + reserved)): ask for 1000 (quota L-B99A9384)"
	else
		found PASS "Lambda runs $limit executions at once; the queues take up to $((need + reserved))"
	fi
}

check_certificate() {
	local certificate state
	certificate=$(given ApiCertificate) || true
	certificate=${certificate:-$(sed -n 's/.*"CertificateArn": "\(arn:[^"]*\)".*/\1/p' "$template" | head -1)}
	[ -n "$certificate" ] || return 0
	if [ "$(cut -d: -f4 <<< "$certificate")" != "$region" ]; then
		found FAIL "the certificate $certificate is not in the region $region"
	elif ! state=$(aws acm describe-certificate --certificate-arn "$certificate" --query Certificate.Status --output text 2>&1); then
		found FAIL "the certificate $certificate: $state"
	elif [ "$state" != ISSUED ]; then
		found FAIL "the certificate $certificate is $state, not ISSUED"
	else
		found PASS "the certificate is issued, in $region"
	fi
}

check_bus() {
	local bus
	bus=$(sed -n 's/.*"EventBusName": "\([^"]*\)".*/\1/p' "$template")
	[ -n "$bus" ] || return 0
	if aws events describe-event-bus --name "$bus" > /dev/null; then
		found PASS "the event bus $bus is there"
	else
		found FAIL "there is no event bus $bus"
	fi
}

check_names() {
	local left
	left=$(
		aws logs describe-log-groups --log-group-name-prefix "/aws/lambda/$stack-" --query 'logGroups[].logGroupName' --output text
		aws lambda list-functions --query "Functions[?starts_with(FunctionName, '$stack-')].FunctionName" --output text
		aws kms list-aliases --query "Aliases[?AliasName=='alias/$stack'].AliasName" --output text
		aws scheduler list-schedule-groups --name-prefix "$stack" --query "ScheduleGroups[?Name=='$stack'].Name" --output text
	) || true
	left=$(tr -s '\t\n' '  ' <<< "$left")
	if [ -n "${left// /}" ]; then
		found FAIL "names of $stack are taken, so its creation would fail: $left"
	else
		found PASS "the names of $stack are free"
	fi
}

# CDK deploys with a role of its own, so its bootstrap stands for the deployer's permissions.
check_deployer() {
	local who=$role denied
	if [ -n "$cdk" ]; then
		if aws cloudformation describe-stacks --stack-name CDKToolkit > /dev/null 2>&1; then
			found PASS "the account and region are prepared for CDK"
		else
			found FAIL "there is no stack CDKToolkit: run make bootstrap first"
		fi
		return
	fi
	if [ -z "$who" ] && [[ "$arn" == *:root ]]; then
		found PASS "$arn may do everything"
		return
	fi
	who=${who:-$arn}
	# The ARN of a session has the role's name and not its path.
	if [[ "$who" == *:assumed-role/* ]]; then
		who=$(cut -d/ -f2 <<< "$who")
		who=$(aws iam get-role --role-name "$who" --query Role.Arn --output text 2> /dev/null) || who=''
	fi
	if [ -z "$who" ] || ! denied=$(aws iam simulate-principal-policy --policy-source-arn "$who" --action-names \
		cloudformation:CreateChangeSet cloudformation:ExecuteChangeSet apigateway:POST cloudwatch:PutMetricAlarm dynamodb:CreateTable \
		events:PutRule iam:CreateRole iam:PassRole iam:PutRolePolicy kms:CreateKey lambda:CreateEventSourceMapping lambda:CreateFunction \
		logs:CreateLogGroup s3:CreateBucket scheduler:CreateSchedule secretsmanager:CreateSecret sns:CreateTopic sqs:CreateQueue \
		states:CreateStateMachine --query "EvaluationResults[?EvalDecision!='allowed'].EvalActionName" --output text 2> /dev/null); then
		found SKIP "the permissions of ${who:-$arn} cannot be simulated"
	elif [ -n "$denied" ]; then
		found FAIL "$who may not: $(tr -s '\t\n' '  ' <<< "$denied")"
	else
		found PASS "$who may make what the stack consists of"
	fi
}

check_bucket() {
	[ -n "$bucket" ] || return 0
	local place
	if ! place=$(aws s3api get-bucket-location --bucket "$bucket" --query LocationConstraint --output text 2>&1); then
		found FAIL "the bucket $bucket: $place"
	elif [ "$place" = None ] && [ "$region" != us-east-1 ] || [ "$place" != None ] && [ "$place" != "$region" ]; then
		found FAIL "the bucket $bucket is in $place, and Lambda takes code from a bucket in $region alone"
	else
		found PASS "the bucket $bucket is in $region"
	fi
}

preflight() {
	check_deployer
	check_bucket
	check_certificate
	check_bus
	# Otherwise the stack itself has the names, and its share of the executions.
	case "$status" in
	none | REVIEW_IN_PROGRESS | ROLLBACK_COMPLETE)
		check_concurrency
		check_names
		;;
	esac
	[ "$wrong" = 0 ] || fail "$wrong checks failed; nothing was made"
}

# --- What a failed first deployment left

confirm() { # QUESTION
	[ -t 0 ] || return 1
	local answer
	read -r -p "$1 [y/N] " answer
	[[ "$answer" == [yY]* ]]
}

reasons() { # STATUS: the first resources with the status, and why
	cloudformation describe-stack-events --query "reverse(StackEvents[?ResourceStatus=='$1'])[:3].[LogicalResourceId,ResourceStatusReason]" --output text >&2
}

remove_failed_stack() {
	say "the first deployment of $stack failed ($status). It began with:"
	reasons CREATE_FAILED
	[ -n "$clean" ] || confirm "Remove the failed stack $stack, and deploy again?" || fail "run the command again with --clean (make deploy CLEAN=1) to remove the failed stack, and deploy"
	cloudformation update-termination-protection --no-enable-termination-protection > /dev/null
	cloudformation delete-stack
	await stack-delete-complete
}

# A table refuses its deletion from its first second, so it outlives a failed creation. One with
# items may be of an earlier deployment: it stays.
remove_empty_tables() {
	local tables table items empty=()
	tables=$(aws dynamodb list-tables --query "TableNames[?starts_with(@, '$stack-Table')]" --output text)
	for table in $tables; do
		items=$(aws dynamodb scan --table-name "$table" --consistent-read --select COUNT --limit 1 --no-paginate --query Count --output text)
		if [ "$items" = 0 ]; then
			empty+=("$table")
		else
			say "the table $table is of no stack and has items; it stays"
		fi
	done
	for table in ${empty[@]+"${empty[@]}"}; do
		if [ -n "$clean" ] || confirm "The table $table is of no stack, and empty. Delete it?"; then
			aws dynamodb update-table --table-name "$table" --no-deletion-protection-enabled > /dev/null
			aws dynamodb wait table-exists --table-name "$table"
			aws dynamodb delete-table --table-name "$table" > /dev/null
			aws dynamodb wait table-not-exists --table-name "$table"
			say "deleted the empty table $table"
		else
			say "the table $table is of no stack, and empty; --clean (make deploy CLEAN=1) deletes it"
		fi
	done
}

# --- The deployment

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quoted() { # a string in JSON
	local text=${1//\\/\\\\}
	text=${text//\"/\\\"} text=${text//$'\r'/}
	echo "\"${text//$'\n'/\\n}\""
}

# values prints the parameters of the template as CloudFormation takes them.
values() {
	local name value sep='[' parameters=("AssetsBucket=$bucket" "AssetsPrefix=$folder" ${parameters[@]+"${parameters[@]}"})
	for name in $known; do
		if value=$(given "$name"); then
			echo "$sep{\"ParameterKey\":\"$name\",\"ParameterValue\":$(quoted "$value")}"
		elif [[ "$before" == *" $name "* ]]; then
			echo "$sep{\"ParameterKey\":\"$name\",\"UsePreviousValue\":true}"
		else
			continue
		fi
		sep=,
	done
	[ "$sep" = , ] || echo '['
	echo ']'
}

# stack_tags prints the tags that the stack has, and then those that are given, as CloudFormation
# takes them.
stack_tags() {
	local name value sep='['
	{
		[ -n "$creation" ] || cloudformation describe-stacks --query 'Stacks[0].Tags[].[Key,Value]' --output text
		printf 'surehook:environment\t%s\n' "$environment"
		for name in ${tags[@]+"${tags[@]}"}; do printf '%s\t%s\n' "${name%%=*}" "${name#*=}"; done
	} | awk -F '\t' '!($1 in last) { order[++n] = $1 } { last[$1] = $2 } END { for (i = 1; i <= n; i++) if (last[order[i]] != "") print order[i] "\t" last[order[i]] }' \
		| while IFS=$'\t' read -r name value; do
			echo "$sep{\"Key\":$(quoted "$name"),\"Value\":$(quoted "$value")}"
			sep=,
		done
	echo ']'
}

put() { # FILE KEY: uploads the file, and prints its URL
	aws s3 cp --only-show-errors "$1" "s3://$bucket/$2"
	local url
	url=$(aws s3 presign "s3://$bucket/$2") # has the host of the region, or of an emulator
	echo "${url%%\?*}"
}

# What prod keeps outside of the stack: data, and addresses that receivers know.
kept_types='AWS::DynamoDB::GlobalTable AWS::EC2::EIP AWS::KMS::Key AWS::S3::Bucket AWS::SecretsManager::Secret AWS::SQS::Queue'

# show_changes prints the changes of a change set. If one of those resources would leave the stack
# or be replaced, it asks, and fails without a yes. It does not ask before it brings back a version:
# nobody may be there, and only what the failed version added leaves.
show_changes() { # CHANGE_SET
	local changes lost
	changes=$(cloudformation describe-change-set --change-set-name "$1" --query 'Changes[].ResourceChange.[Action,LogicalResourceId,ResourceType,Replacement]' --output text) \
		|| fail "the change set $1 cannot be read"
	echo "$changes"
	lost=$(awk -v types=" $kept_types " -v may=" $replace " '
		($1 == "Remove" || $4 == "True" || $4 == "Conditional") && index(types, " " $3 " ") && !index(may, " " $2 " ") { all = all " " $2 }
		END { print substr(all, 2) }' <<< "$changes") || fail "the change set $1 cannot be read"
	[ -n "$lost" ] && [ -z "$bring_back" ] || return 0
	if ! confirm "The stack would lose these resources with their data, or get empty ones instead: $lost. Go on?"; then
		cloudformation delete-change-set --change-set-name "$1" > /dev/null
		fail "the stack would lose these resources with their data, or get empty ones instead: $lost. Nothing was changed; --replace \"$lost\" (make deploy REPLACE=\"$lost\") permits it"
	fi
}

# change makes a change set and executes it. Returns 1 if the change failed.
change() { # TYPE TEMPLATE_URL PARAMETERS_FILE TAGS_FILE [OPTION ...]
	local set done=stack-update-complete failed=UPDATE_FAILED reason
	set=surehook-$(date +%s)
	[ "$1" = UPDATE ] || { done=stack-create-complete failed=CREATE_FAILED; }
	cloudformation create-change-set --change-set-name "$set" --change-set-type "$1" --template-url "$2" --parameters "file://$3" \
		--tags "file://$4" --capabilities CAPABILITY_IAM "${@:5}" > /dev/null || fail "CloudFormation took no change set"
	if ! await change-set-create-complete --change-set-name "$set" 2> /dev/null; then
		reason=$(cloudformation describe-change-set --change-set-name "$set" --query StatusReason --output text)
		cloudformation delete-change-set --change-set-name "$set" > /dev/null
		[[ "$reason" == *"didn't contain changes"* || "$reason" == *"No updates"* ]] || fail "the change set failed: $reason"
		say "nothing changes"
		return 0
	fi
	show_changes "$set"
	cloudformation execute-change-set --change-set-name "$set" > /dev/null
	await "$done" && return 0
	say "the deployment of $stack failed, and CloudFormation rolled it back. It began with:"
	reasons "$failed"
	return 1
}

# watched prints the alarms that roll an update back for ten minutes. One that is in alarm
# already would roll back its own cure.
watched() {
	local names=("$stack-api-errors" "$stack-deliver-errors" "$stack-authorize-errors") name ringing all='' sep=''
	ringing=$(aws cloudwatch describe-alarms --alarm-names "${names[@]}" --query "MetricAlarms[?StateValue=='ALARM'].AlarmName" --output text)
	if [ -n "$ringing" ]; then
		say "$ringing: in alarm already, so alarms do not roll this deployment back"
		echo '{"RollbackTriggers":[]}'
		return
	fi
	for name in $(aws cloudwatch describe-alarms --alarm-names "${names[@]}" --query 'MetricAlarms[].AlarmName' --output text); do
		all+="$sep{\"Type\":\"AWS::CloudWatch::Alarm\",\"Arn\":\"arn:$partition:cloudwatch:$region:$account:alarm:$name\"}" sep=,
	done
	echo "{\"MonitoringTimeInMinutes\":10,\"RollbackTriggers\":[$all]}"
}

# check_settings refuses to lose a setting that the stack has: the template of CDK lists the names
# of its settings, and a release has parameters.
check_settings() {
	local had has name lost=''
	had=$(
		cloudformation get-template --template-stage Original --query 'TemplateBody.Metadata.Settings || `[]`' --output text
		cloudformation describe-stacks --query "Stacks[0].Parameters[?ParameterValue!='' && !contains(['off', 'standard'], ParameterValue)].ParameterKey || \`[]\`" --output text | tr '\t' '\n' | grep -Ev "^(Assets|BootstrapVersion)" | in_capitals
	) || true
	has=" $(
		sed -n '/^  "Settings": \[/,/^  \]/s/^   "\([A-Z_]*\)",*$/\1/p' "$template"
		for name in $known; do
			! [[ "$before" == *" $name "* || " ${parameters[*]-}" == *" $name="* ]] || echo "$name"
		done | in_capitals
	) $drop "
	for name in $had; do
		[[ "${has//$'\n'/ }" == *" $name "* ]] || lost+=" $name"
	done
	[ -z "$lost" ] || fail "$stack has settings that this deployment does not have:$lost. Put them into the settings, or drop them: --drop \"${lost# }\" (make deploy DROP=\"${lost# }\")"
}

# check_key refuses another sealing key: a setting of CDK is in the template.
check_key() {
	local key set now
	set=$(cloudformation describe-stacks --query "Stacks[0].Parameters[?ParameterKey=='SealingKey'].ParameterValue" --output text)
	case " ${parameters[*]-}" in
	*" SealingKey="*) key=$(given SealingKey) ;;
	*) key=$(sed -n '/^  "KeyArn": {/,/^  }/s/^   "Value": "\(arn:[^"]*\)".*/\1/p' "$template") && set='' ;;
	esac
	now=$(cloudformation describe-stacks --query "Stacks[0].Outputs[?OutputKey=='KeyArn'].OutputValue" --output text)
	[ -z "$key$set" ] || [ "$key" = "$now" ] || fail "$now sealed the secrets of $stack, and no other key opens them: the sealing key cannot change"
}

in_capitals() { sed 's/\([a-z]\)\([A-Z]\)/\1_\2/g' | tr '[:lower:]' '[:upper:]'; }

kept=surehook/stacks/$stack

# keep stores what runs now beside the assets.
keep() {
	cloudformation get-template --template-stage Original --query TemplateBody --output json > "$work/previous.json"
	cloudformation describe-stacks --query 'Stacks[0].Parameters[].{ParameterKey:ParameterKey,ParameterValue:ParameterValue} || `[]`' --output json > "$work/previous.parameters.json"
	cloudformation describe-stacks --query 'Stacks[0].Tags || `[]`' --output json > "$work/previous.tags.json"
	previous=$(put "$work/previous.json" "$kept/previous.template.json")
	put "$work/previous.parameters.json" "$kept/previous.parameters.json" > /dev/null
}

# answers fails if the API answers 5xx. With an unknown key the function authorize runs; without
# one, API Gateway would answer by itself.
answers() {
	local url code n
	url=$(cloudformation describe-stacks --query "Stacks[0].Outputs[?OutputKey=='ApiUrl'].OutputValue" --output text)
	for n in 1 2 3 4 5; do
		code=$(curl -s -o /dev/null -m 35 -w '%{http_code}' -H "Authorization: Bearer shk_$(printf '%043d' "$n")" "$url/v1/keys") || code=000
		case "$code" in
		000 | 5*) sleep 5 ;;
		*) return 0 ;;
		esac
	done
	if [ "$code" = 000 ]; then
		say "$url does not answer: a domain of your own needs its DNS record first"
		return 0
	fi
	say "$url answers $code. The log of the function $stack-authorize says why"
	return 1
}

# The parameters that the stack has.
before=" $([ -n "$creation" ] || cloudformation describe-stacks --query 'Stacks[0].Parameters[].ParameterKey' --output text | tr -s '\t\n' '  ') "
preflight
[ -n "$creation" ] || { check_settings && check_key; }
[ -z "$check" ] || exit 0
case "$status" in
ROLLBACK_COMPLETE | ROLLBACK_FAILED | CREATE_FAILED) remove_failed_stack ;;
esac
[ -z "$creation" ] || remove_empty_tables

if [ -n "$cdk" ] && [ -z "$creation" ]; then
	bucket=$(aws cloudformation describe-stacks --stack-name CDKToolkit --query "Stacks[0].Outputs[?OutputKey=='BucketName'].OutputValue" --output text)
fi
[ -n "$creation" ] || keep
again='run the command again: it removes what the creation left'
[ -n "$creation" ] || again='the version before runs on'
if [ -n "$cdk" ]; then
	[ -n "$creation" ] || [ "$environment" != prod ] || context+=(-c protect=1)
	if [ -z "$creation" ]; then
		set=surehook-$(date +%s)
		node_modules/.bin/cdk deploy "$stack" --app cdk.out --exclusively --require-approval never --method prepare-change-set --change-set-name "$set" > /dev/null || fail "$again"
		prepared=$(cloudformation list-change-sets --query "Summaries[?ChangeSetName=='$set'].ChangeSetName" --output text)
		if [ -n "$prepared" ]; then # CDK makes none if nothing changes
			show_changes "$set"
			cloudformation delete-change-set --change-set-name "$set" > /dev/null
		fi
	fi
	node_modules/.bin/cdk deploy --all "${context[@]}" --outputs-file cdk.out/outputs.json || fail "$again"
else
	folder=surehook/$version
	for archive in $archives; do
		aws s3 cp --only-show-errors "$archive" "s3://$bucket/$folder/$archive"
	done
	values > "$work/parameters.json"
	stack_tags > "$work/tags.json"
	url=$(put "$template" "$folder/$template")
	kind=CREATE options=()
	[ -z "$role" ] || options+=(--role-arn "$role")
	[ "${#topics[@]}" = 0 ] || options+=(--notification-arns "${topics[@]}")
	if [ -z "$creation" ]; then
		kind=UPDATE
		triggers=$(watched)
		options+=(--rollback-configuration "$triggers")
	fi
	change "$kind" "$url" "$work/parameters.json" "$work/tags.json" ${options[@]+"${options[@]}"} || fail "$again"
fi
# Only now: a failed creation must be removable.
[ "$environment" != prod ] || cloudformation update-termination-protection --enable-termination-protection > /dev/null
if ! answers; then
	[ -z "$creation" ] || fail "the stack is there, and its API fails: correct the settings and deploy again"
	say "bringing the version before back, with its settings: s3://$bucket/$kept"
	bring_back=yes
	change UPDATE "$previous" "$work/previous.parameters.json" "$work/previous.tags.json" || fail "bringing back failed"
	fail "the version before runs again"
fi
cloudformation describe-stacks --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text
