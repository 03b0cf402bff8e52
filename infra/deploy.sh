#!/usr/bin/env bash
# Deploys this release of Surehook with the AWS CLI alone: uploads the functions and the
# template to a bucket of yours, and creates the stack or updates it.
set -euo pipefail

version=@VERSION@

usage() {
	cat <<END
Surehook $version

usage: ./deploy.sh --bucket BUCKET [--environment dev|staging|prod] [--stack NAME] [Parameter=value ...]

  --bucket       your bucket for the functions and the template, in the region of the stack
  --environment  the template: prod, the default, protects its data from removal
  --stack        the stack, and the prefix of all names; surehook-ENVIRONMENT by default

Parameters that are not given keep the value of the last deployment, or have the default of
the template. An empty value, such as AlarmEmail=, means none. Credentials and region come
from the environment, as for every command of the AWS CLI.
END
}

fail() {
	echo "deploy.sh: $*" >&2
	exit 1
}

bucket='' environment=prod stack='' parameters=()
while [ $# -gt 0 ]; do
	case "$1" in
	--bucket | --environment | --stack)
		[ -n "${2-}" ] || fail "$1 needs a value"
		case "$1" in
		--bucket) bucket=$2 ;;
		--environment) environment=$2 ;;
		--stack) stack=$2 ;;
		esac
		shift 2
		;;
	-h | --help) usage && exit ;;
	AssetsBucket=* | AssetsPrefix=*) fail "${1%%=*} comes from --bucket and the version" ;;
	[A-Z]*=*) parameters+=("$1") && shift ;;
	*) fail "$1 is not an option, and not a parameter such as AlarmEmail=oncall@example.com; see ./deploy.sh --help" ;;
	esac
done
[ -n "$bucket" ] || fail "name your bucket: --bucket BUCKET; see ./deploy.sh --help"
stack=${stack:-surehook-$environment}
# The names of resources begin with the name of the stack, and have limits of their own.
[[ "$stack" =~ ^[a-z][a-z0-9-]{0,38}[a-z0-9]$ ]] \
	|| fail "the stack $stack is not 2 to 40 lowercase letters, digits and hyphens with a letter first and no hyphen last"

cd "$(dirname "$0")"
template=surehook-$environment.template.json
[ -f "$template" ] || fail "the environment $environment has no template $template here"
command -v aws > /dev/null || fail "the AWS CLI is missing: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
sums=(sha256sum)
command -v sha256sum > /dev/null || sums=(shasum -a 256) # macOS
"${sums[@]}" --check --quiet --ignore-missing checksums.txt || fail "the files are not those of $version: download the release again"

folder=surehook/$version
for archive in *.zip; do
	aws s3 cp --only-show-errors "$archive" "s3://$bucket/$folder/$archive"
done

# A request holds a template of 51,200 bytes at most, so CloudFormation reads it from the bucket.
aws cloudformation deploy --stack-name "$stack" --template-file "$template" --s3-bucket "$bucket" --s3-prefix "$folder" \
	--capabilities CAPABILITY_IAM --no-fail-on-empty-changeset \
	--tags "surehook:environment=$environment" "surehook:version=$version" \
	--parameter-overrides "AssetsBucket=$bucket" "AssetsPrefix=$folder" ${parameters[@]+"${parameters[@]}"}
[ "$environment" != prod ] || aws cloudformation update-termination-protection --enable-termination-protection --stack-name "$stack" > /dev/null
aws cloudformation describe-stacks --stack-name "$stack" --query 'Stacks[0].Outputs[].[OutputKey,OutputValue]' --output text
