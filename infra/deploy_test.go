package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeAccount answers like the AWS CLI in an account with one stack and its table, and records the
// calls that change something. The file status has the stack's status, or none; failing, how many
// executions of change sets still fail; tables, the names of tables; and items, how many items
// each has. ringing has alarms in alarm, and the file broken says that the API fails after the
// next change.
const fakeAccount = `#!/bin/bash
home=$(dirname "$0")
status=$(cat "$home/status")
case "$2" in
create-* | execute-* | delete-* | update-* | cp) echo "$*" >> "$home/calls" ;;
esac
case "$1 $2 $*" in
"sts "*) printf '123456789012\tarn:aws:iam::123456789012:user/deployer\n' ;;
"lambda get-account-settings "*) cat "$home/quota" ;;
"s3api get-bucket-location "*) echo eu-west-1 ;;
"acm "*) cat "$home/certificate" ;;
"iam simulate-"*) cat "$home/denied" ;;
"logs describe-log-groups "*) cat "$home/groups" ;;
"s3 presign "*) echo "https://${3#s3://}?signature" ;;
"dynamodb list-tables "*) cat "$home/tables" ;;
"dynamodb scan "*) cat "$home/items" ;;
"dynamodb delete-table "*) : > "$home/tables" ;;
"cloudwatch describe-alarms "*ALARM*) cat "$home/ringing" ;;
"cloudwatch describe-alarms "*) printf 'surehook-prod-api-errors\tsurehook-prod-deliver-errors\n' ;;
*"describe-stack-events"*) printf 'DomainName\tthe certificate is wrong\n' ;;
*"describe-stacks --stack-name CDKToolkit"*) echo cdk-assets ;;
*"describe-stacks"*StackStatus*)
	[ "$status" != none ] || { echo "Stack with id surehook-prod does not exist" >&2; exit 255; }
	echo "$status" ;;
*"describe-stacks"*"Parameters[].ParameterKey --"*) printf 'AssetsBucket\tAssetsPrefix\tPortalName\n' ;;
*"describe-stacks"*"Parameters[?ParameterValue"*) echo "$(cat "$home/set")" ;;
*"describe-stacks"*"Stacks[0].Parameters"*) echo '[{"ParameterKey":"PortalName","ParameterValue":"A shop"}]' ;;
*"describe-stacks"*"Tags[].[Key,Value]"*) printf 'team\tweb shop\nsurehook:environment\tprod\n' ;;
*"describe-stacks"*"Stacks[0].Tags"*) echo '[]' ;;
*"describe-stacks"*"'SealingKey'"*) cat "$home/own_key" ;;
*"describe-stacks"*KeyArn*) echo arn:aws:kms:eu-west-1:123456789012:key/1 ;;
*"describe-stacks"*ApiUrl*) echo https://api ;;
*"describe-stacks"*OutputKey,OutputValue*) printf 'ApiUrl\thttps://api\n' ;;
*"get-template"*Settings*) echo "$(cat "$home/settings")" ;;
*"get-template"*) echo '{"before": true}' ;;
*"list-change-sets"*) [ -e "$home/same" ] || echo prepared ;;
*"describe-change-set"*) if [ -e "$home/fails" ]; then cat "$home/back"; else cat "$home/changes"; fi ;;
*"create-change-set"*)
	for file in parameters tags; do
		cp "$(sed "s/.*--$file file:\/\/\([^ ]*\).*/\1/" <<< "$*")" "$home/$file"
	done ;;
*"delete-stack"*) echo none > "$home/status" ;;
*"execute-change-set"*)
	failing=$(cat "$home/failing")
	done=UPDATE_COMPLETE back=UPDATE_ROLLBACK_COMPLETE
	[ "$status" != none ] || { done=CREATE_COMPLETE back=ROLLBACK_COMPLETE; echo "surehook-prod-TableCD117FA1-X" >> "$home/tables"; }
	if [ "$failing" -gt 0 ]; then
		echo $((failing - 1)) > "$home/failing"
		echo $back > "$home/status"
	else
		echo $done > "$home/status"
		[ ! -e "$home/broken" ] || mv "$home/broken" "$home/fails"
	fi ;;
*"wait stack-"*) [[ "$status" != *ROLLBACK* ]] ;;
esac
`

// fakeCurl answers as the API does to an unknown key: 403, or 500 while the file fails is there.
const fakeCurl = `#!/bin/bash
home=$(dirname "$0")
echo "curl ${*: -1}" >> "$home/calls"
if [ -e "$home/fails" ]; then echo -n 500; else echo -n 403; fi
`

// account is the state of the fake account before a deployment.
type account struct {
	status, tables, items, failing, ringing, quota, certificate, denied, groups string
	ownKey                                                                      string // the value of SealingKey
	settings, set                                                               string // names of settings of CDK, and of parameters with a value
	changes                                                                     string // lines of each change set
	back                                                                        string // lines of the change set that brings the version before back
	same                                                                        bool   // CDK finds that nothing changes
	broken                                                                      bool   // the API fails after the deployment
}

// deployment runs deploy.sh in the account.
type deployment struct {
	bin, folder string
}

func newDeployment(t *testing.T, a account, spoil string) deployment {
	t.Helper()

	d := deployment{bin: t.TempDir(), folder: unpackRelease(t, spoil)}
	files := map[string]string{
		"aws": fakeAccount, "curl": fakeCurl, "sleep": "#!/bin/sh\n", "status": a.status, "tables": a.tables, "items": a.items,
		"failing": a.failing, "ringing": a.ringing, "quota": a.quota, "certificate": a.certificate, "denied": a.denied, "groups": a.groups,
		"settings": a.settings, "set": a.set, "own_key": a.ownKey, "changes": a.changes, "back": a.back,
	}
	for name, fallback := range map[string]string{"status": "none", "items": "0", "failing": "0", "quota": "1000\t1000", "certificate": "ISSUED"} {
		if files[name] == "" {
			files[name] = fallback
		}
	}
	for name, is := range map[string]bool{"broken": a.broken, "same": a.same} {
		if is {
			files[name] = ""
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(d.bin, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// run returns the calls of deploy.sh that change something, and its output.
func (d deployment) run(t *testing.T, args ...string) (calls, output string, err error) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(d.folder, "deploy.sh")}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+d.bin+":"+os.Getenv("PATH"), "AWS_REGION=eu-west-1", "TMPDIR="+d.bin)
	out, err := cmd.CombinedOutput()
	got, _ := os.ReadFile(filepath.Join(d.bin, "calls")) // without a call there is no file
	_ = os.Remove(filepath.Join(d.bin, "calls"))
	text := regexp.MustCompile(`surehook-\d{10}`).ReplaceAllString(string(got), "SET")
	text = regexp.MustCompile(regexp.QuoteMeta(d.bin)+`/tmp\.\w+/`).ReplaceAllString(text, "TMP/")
	return text, string(out), err
}

func (d deployment) read(t *testing.T, name string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(d.bin, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Calls of deploy.sh.
const (
	uploads = "s3 cp --only-show-errors deliver.zip s3://assets/surehook/v1.2.3/deliver.zip\n" +
		"s3 cp --only-show-errors surehook-prod.template.json s3://assets/surehook/v1.2.3/surehook-prod.template.json\n"
	keeps = "s3 cp --only-show-errors TMP/previous.json s3://assets/surehook/stacks/surehook-prod/previous.template.json\n" +
		"s3 cp --only-show-errors TMP/previous.parameters.json s3://assets/surehook/stacks/surehook-prod/previous.parameters.json\n"
	protects    = "cloudformation update-termination-protection --stack-name surehook-prod --enable-termination-protection\n"
	asks        = "curl https://api/v1/keys\n"
	removes     = "cloudformation update-termination-protection --stack-name surehook-prod --no-enable-termination-protection\ncloudformation delete-stack --stack-name surehook-prod\n"
	unprotects  = "dynamodb update-table --table-name surehook-prod-TableCD117FA1-X --no-deletion-protection-enabled\ndynamodb delete-table --table-name surehook-prod-TableCD117FA1-X\n"
	alarmsWatch = ` --rollback-configuration {"MonitoringTimeInMinutes":10,"RollbackTriggers":[` +
		`{"Type":"AWS::CloudWatch::Alarm","Arn":"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:surehook-prod-api-errors"},` +
		`{"Type":"AWS::CloudWatch::Alarm","Arn":"arn:aws:cloudwatch:eu-west-1:123456789012:alarm:surehook-prod-deliver-errors"}]}`
)

// changes returns the calls that make and execute a change set.
func changes(kind, stack, template, parameters, tags, options string) string {
	return "cloudformation create-change-set --stack-name " + stack + " --change-set-name SET --change-set-type " + kind + " --template-url https://assets/" + template +
		" --parameters file://TMP/" + parameters + " --tags file://TMP/" + tags + " --capabilities CAPABILITY_IAM" + options +
		"\ncloudformation execute-change-set --stack-name " + stack + " --change-set-name SET\n"
}

func released(kind, options string) string {
	return changes(kind, "surehook-prod", "surehook/v1.2.3/surehook-prod.template.json", "parameters.json", "tags.json", options)
}

// Calls of deploy.sh that show what CDK changes; the change set is never executed.
const (
	prepares = "cdk deploy surehook-prod --app cdk.out --exclusively --require-approval never --method prepare-change-set --change-set-name SET\n"
	discards = "cloudformation delete-change-set --stack-name surehook-prod --change-set-name SET\n"
)

// Lines of change sets.
const (
	replacesTable = "Modify\tTableCD117FA1\tAWS::DynamoDB::GlobalTable\tTrue\n"
	removesQueues = "Modify\tDeliver72E7B226\tAWS::Lambda::Function\tFalse\nRemove\tCoalesce668458B6\tAWS::SQS::Queue\tNone\nRemove\tLive848578DF\tAWS::SQS::Queue\tNone\n"
	removesAlarm  = "Remove\tAlarmRejectsEAC95D3F\tAWS::CloudWatch::Alarm\tNone\nModify\tDeliverLive836A4195\tAWS::Lambda::EventSourceMapping\tConditional\nAdd\tKey961B73FD\tAWS::KMS::Key\tNone\n" +
		"Modify\tSlot01229AFD\tAWS::SQS::Queue\tFalse\n"
)

// TestDeploy checks the calls of the AWS CLI that deploy.sh makes. `make test/release` runs the
// script against an emulator, which has no termination protection.
func TestDeploy(t *testing.T) {
	t.Parallel()

	refusedUpdate := strings.Replace(released("UPDATE", alarmsWatch), "execute-", "delete-", 1)
	dev := "s3 cp --only-show-errors deliver.zip s3://assets/surehook/v1.2.3/deliver.zip\ns3 cp --only-show-errors surehook-dev.template.json s3://assets/surehook/v1.2.3/surehook-dev.template.json\n"
	tests := []struct {
		name     string
		account  account
		args     []string
		spoil    string   // a file whose checksum is wrong
		want     string   // the calls that change something
		says     []string // parts of the output
		wantFail bool
	}{
		{name: "a first deployment is protected after its success", args: []string{"--bucket", "assets"}, want: uploads + released("CREATE", "") + protects + asks},
		{
			name: "an update keeps what runs, and alarms roll it back", account: account{status: "UPDATE_COMPLETE"}, args: []string{"--bucket", "assets"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks,
		},
		{
			name: "an alarm that rings already does not roll back its cure", account: account{status: "CREATE_COMPLETE", ringing: "surehook-prod-api-errors"}, args: []string{"--bucket", "assets"},
			want: keeps + uploads + released("UPDATE", ` --rollback-configuration {"RollbackTriggers":[]}`) + protects + asks, says: []string{"in alarm already"},
		},
		{
			name: "another stack", args: []string{"--bucket", "assets", "--environment", "dev", "--stack", "hooks", "AlarmEmail="},
			want: dev + changes("CREATE", "hooks", "surehook/v1.2.3/surehook-dev.template.json", "parameters.json", "tags.json", "") + asks,
		},
		{
			name: "a release does not lose a setting of CDK", account: account{status: "UPDATE_COMPLETE", settings: "ALARM_EMAIL\tTRACES"}, args: []string{"--bucket", "assets"}, wantFail: true,
			says: []string{"does not have: ALARM_EMAIL TRACES. Put"},
		},
		{
			name: "a release with the setting", account: account{status: "UPDATE_COMPLETE", settings: "ALARM_EMAIL"}, args: []string{"--bucket", "assets", "AlarmEmail=a@example.com"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks,
		},
		{
			name: "a release takes over a stack of CDK", account: account{status: "UPDATE_COMPLETE", settings: "PORTAL_NAME", set: "BootstrapVersion"}, args: []string{"--bucket", "assets", "PortalName=A shop"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks,
		},
		{
			name: "a failed creation says what to do", account: account{failing: "1"}, args: []string{"--bucket", "assets"}, wantFail: true,
			want: uploads + released("CREATE", ""), says: []string{"the certificate is wrong", "run the command again"},
		},
		{
			name: "a failed creation is removed after a yes alone", account: account{status: "ROLLBACK_COMPLETE", tables: "surehook-prod-TableCD117FA1-X"}, args: []string{"--bucket", "assets"}, wantFail: true,
			says: []string{"the certificate is wrong", "--clean"},
		},
		{
			name: "a failed creation is removed with its empty table", account: account{status: "ROLLBACK_COMPLETE", tables: "surehook-prod-TableCD117FA1-X"}, args: []string{"--bucket", "assets", "--clean"},
			want: removes + unprotects + uploads + released("CREATE", "") + protects + asks, says: []string{"deleted the empty table"},
		},
		{
			name: "a table of an earlier deployment stays", account: account{tables: "surehook-prod-TableCD117FA1-X", items: "1"}, args: []string{"--bucket", "assets", "--clean"},
			want: uploads + released("CREATE", "") + protects + asks, says: []string{"has items; it stays"},
		},
		{
			name: "a version whose API fails is taken back", account: account{status: "UPDATE_COMPLETE", broken: true, back: removesQueues}, args: []string{"--bucket", "assets", "OidcIssuer=https://id.example.com"}, wantFail: true,
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + strings.Repeat(asks, 5) +
				changes("UPDATE", "surehook-prod", "surehook/stacks/surehook-prod/previous.template.json", "previous.parameters.json", "previous.tags.json", ""),
			says: []string{"answers 500", "surehook-prod-authorize", "the version before runs again"},
		},
		{
			name: "no table is replaced by an empty one", account: account{status: "UPDATE_COMPLETE", changes: replacesTable + removesAlarm}, args: []string{"--bucket", "assets", "--clean"}, wantFail: true,
			want: keeps + uploads + refusedUpdate, says: []string{"instead: TableCD117FA1. Nothing", `--replace "TableCD117FA1"`},
		},
		{
			name: "no queue leaves the stack beside the one that is named", account: account{status: "UPDATE_COMPLETE", changes: removesQueues}, args: []string{"--bucket", "assets", "--replace", "Live848578DF"}, wantFail: true,
			want: keeps + uploads + refusedUpdate, says: []string{`--replace "Coalesce668458B6"`},
		},
		{
			name: "a table is replaced after a yes", account: account{status: "UPDATE_COMPLETE", changes: replacesTable}, args: []string{"--bucket", "assets", "--replace", "Live848578DF TableCD117FA1"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks,
		},
		{
			name: "what holds no data may leave", account: account{status: "UPDATE_COMPLETE", changes: removesAlarm}, args: []string{"--bucket", "assets"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks, says: []string{"AlarmRejectsEAC95D3F"},
		},
		{name: "an update that goes on", account: account{status: "UPDATE_IN_PROGRESS"}, args: []string{"--bucket", "assets"}, wantFail: true, says: []string{"wait"}},
		{name: "an update whose rollback failed", account: account{status: "UPDATE_ROLLBACK_FAILED"}, args: []string{"--bucket", "assets"}, wantFail: true, says: []string{"continue-update-rollback"}},
		{name: "no bucket", wantFail: true, says: []string{"--bucket"}},
		{name: "an option without a value", args: []string{"--bucket"}, wantFail: true, says: []string{"--bucket needs a value"}},
		{name: "an unknown option", args: []string{"--bucket", "assets", "--region", "eu-west-1"}, wantFail: true, says: []string{"--region is not an option"}},
		{name: "an unknown environment", args: []string{"--bucket", "assets", "--environment", "test"}, wantFail: true, says: []string{"no template surehook-test.template.json"}},
		{name: "a stack whose name cannot be a prefix", args: []string{"--bucket", "assets", "--stack", "Hooks"}, wantFail: true, says: []string{"the stack Hooks is not"}},
		{name: "a parameter that the script sets", args: []string{"--bucket", "assets", "AssetsPrefix=x"}, wantFail: true, says: []string{"AssetsPrefix comes from"}},
		{name: "a parameter that the template does not have", args: []string{"--bucket", "assets", "PortalTitle=A shop"}, wantFail: true, says: []string{"surehook-prod.template.json has no parameter PortalTitle", "AlarmEmail ApiCertificate OidcIssuer SealingKey PortalName"}},
		{name: "an archive that is not there", args: []string{"--bucket", "assets"}, spoil: "no deliver.zip", wantFail: true, says: []string{"deliver.zip is missing"}},
		{
			name: "a role of CloudFormation, and topics for what it does", args: []string{"--bucket", "assets", "--role", "arn:aws:iam::123456789012:role/deploy", "--notify", "arn:aws:sns:eu-west-1:123456789012:a", "--notify", "arn:aws:sns:eu-west-1:123456789012:b"},
			want: uploads + released("CREATE", " --role-arn arn:aws:iam::123456789012:role/deploy --notification-arns arn:aws:sns:eu-west-1:123456789012:a arn:aws:sns:eu-west-1:123456789012:b") + protects + asks,
			says: []string{"arn:aws:iam::123456789012:role/deploy may make"},
		},
		{name: "another sealing key", account: account{status: "UPDATE_COMPLETE"}, args: []string{"--bucket", "assets", "SealingKey=arn:aws:kms:eu-west-1:123456789012:key/2"}, wantFail: true, says: []string{"key/1 sealed the secrets"}},
		{name: "no sealing key any more", account: account{status: "UPDATE_COMPLETE", ownKey: "arn:aws:kms:eu-west-1:123456789012:key/1"}, args: []string{"--bucket", "assets", "SealingKey="}, wantFail: true, says: []string{"key/1 sealed the secrets"}},
		{
			name: "the same sealing key", account: account{status: "UPDATE_COMPLETE", ownKey: "arn:aws:kms:eu-west-1:123456789012:key/1"}, args: []string{"--bucket", "assets", "SealingKey=arn:aws:kms:eu-west-1:123456789012:key/1"},
			want: keeps + uploads + released("UPDATE", alarmsWatch) + protects + asks,
		},
		{name: "a tag without a name", args: []string{"--bucket", "assets", "--tag", "web"}, wantFail: true, says: []string{"web is not a tag"}},
		{name: "a spoiled download", args: []string{"--bucket", "assets"}, spoil: "deliver.zip", wantFail: true, says: []string{"download the release again"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, out, err := newDeployment(t, tt.account, tt.spoil).run(t, tt.args...)
			if failed := err != nil; failed != tt.wantFail {
				t.Errorf("deploy.sh %q: %v; want an error: %t\n%s", tt.args, err, tt.wantFail, out)
			}
			for _, part := range tt.says {
				if !strings.Contains(out, part) {
					t.Errorf("deploy.sh %q does not say %q:\n%s", tt.args, part, out)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("deploy.sh %q (-want +got):\n%s\n%s", tt.args, diff, out)
			}
		})
	}
}

// TestDeploy_again fails a creation as often as a deployer might, and then succeeds: nothing is
// left twice.
func TestDeploy_again(t *testing.T) {
	t.Parallel()

	d := newDeployment(t, account{failing: "3"}, "")
	for try := range 3 {
		if _, out, err := d.run(t, "--bucket", "assets", "--clean"); err == nil {
			t.Fatalf("try %d succeeded; want it to fail\n%s", try, out)
		}
	}
	if calls, out, err := d.run(t, "--bucket", "assets", "--clean"); err != nil || calls != removes+unprotects+uploads+released("CREATE", "")+protects+asks {
		t.Errorf("the last try: %v\n%s\n%s", err, calls, out)
	}
	if got := strings.Fields(d.read(t, "tables")); len(got) != 1 {
		t.Errorf("the tables %v are left; want that of the stack alone", got)
	}
}

// TestDeploy_parameters checks that the parameters reach CloudFormation as they are.
func TestDeploy_parameters(t *testing.T) {
	t.Parallel()

	d := newDeployment(t, account{status: "UPDATE_COMPLETE"}, "")
	if _, out, err := d.run(t, "--bucket", "assets", "AlarmEmail=", `SignatureProfiles={"acme":"\n, a=b"}`, "PrivateCa=BEGIN\r\nAAAA\n"); err != nil {
		t.Fatalf("deploy.sh: %v\n%s", err, out)
	}
	want := `[{"ParameterKey":"AssetsBucket","ParameterValue":"assets"}` + "\n" +
		`,{"ParameterKey":"AssetsPrefix","ParameterValue":"surehook/v1.2.3"}` + "\n" +
		`,{"ParameterKey":"AlarmEmail","ParameterValue":""}` + "\n" +
		`,{"ParameterKey":"PortalName","UsePreviousValue":true}` + "\n" +
		`,{"ParameterKey":"PrivateCa","ParameterValue":"BEGIN\nAAAA"}` + "\n" +
		`,{"ParameterKey":"SignatureProfiles","ParameterValue":"{\"acme\":\"\\n, a=b\"}"}` + "\n]\n"
	if diff := cmp.Diff(want, d.read(t, "parameters")); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// TestDeploy_tags checks that a stack keeps its tags beside those that are given, but for one without
// a value.
func TestDeploy_tags(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, status, want string }{
		{name: "a creation", status: "none", want: `[{"Key":"surehook:environment","Value":"prod"}` + "\n" + `,{"Key":"cost","Value":"a \"b\" = c"}` + "\n]\n"},
		{
			name: "an update", status: "UPDATE_COMPLETE",
			want: `[{"Key":"team","Value":"web shop"}` + "\n" + `,{"Key":"surehook:environment","Value":"prod"}` + "\n" + `,{"Key":"cost","Value":"a \"b\" = c"}` + "\n]\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			d := newDeployment(t, account{status: tt.status}, "")
			if _, out, err := d.run(t, "--bucket", "assets", "--tag", "cost=a \"b\" = c", "--tag", "gone="); err != nil {
				t.Fatalf("deploy.sh: %v\n%s", err, out)
			}
			if diff := cmp.Diff(tt.want, d.read(t, "tags")); diff != "" {
				t.Errorf("tags (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeploy_check checks what deploy.sh finds before it makes anything.
func TestDeploy_check(t *testing.T) {
	t.Parallel()

	const certificate = "ApiCertificate=arn:aws:acm:eu-west-1:123456789012:certificate/1"
	tests := []struct {
		name    string
		account account
		args    []string
		want    string // a line
	}{
		{name: "a small quota", account: account{quota: "20\t120"}, want: "WARN  Lambda runs 20 executions at once in this account and region, and the queues take up to 25"},
		{name: "no room for the reservation", account: account{quota: "1000\t105"}, want: "FAIL  20 executions are to be reserved, 105 are unreserved, and AWS keeps 100"},
		{name: "no room for private receivers", account: account{quota: "1000\t300"}, args: []string{"PrivateCidrs=10.20.0.0/16"}, want: "FAIL  250 executions are to be reserved"},
		{name: "no room at the second try", account: account{status: "ROLLBACK_COMPLETE", quota: "1000\t105"}, want: "FAIL  20 executions are to be reserved"},
		{name: "a name left over at the second try", account: account{status: "ROLLBACK_COMPLETE", groups: "/aws/lambda/surehook-prod-deliver"}, want: "FAIL  names of surehook-prod are taken"},
		{name: "room", want: "PASS  Lambda runs 1000 executions at once; the queues take up to 25"},
		{name: "a certificate that waits", account: account{certificate: "PENDING_VALIDATION"}, args: []string{certificate}, want: "is PENDING_VALIDATION, not ISSUED"},
		{name: "a certificate of another region", args: []string{strings.Replace(certificate, "eu-west-1", "us-east-1", 1)}, want: "is not in the region eu-west-1"},
		{name: "a certificate", args: []string{certificate}, want: "PASS  the certificate is issued, in eu-west-1"},
		{name: "a bus", want: "PASS  the event bus orders is there"},
		{name: "a name left over", account: account{groups: "/aws/lambda/surehook-prod-deliver"}, want: "FAIL  names of surehook-prod are taken, so its creation would fail: /aws/lambda/surehook-prod-deliver"},
		{name: "a missing permission", account: account{denied: "kms:CreateKey\tiam:PassRole"}, want: "FAIL  arn:aws:iam::123456789012:user/deployer may not: kms:CreateKey iam:PassRole"},
		{name: "a bucket", want: "PASS  the bucket assets is in eu-west-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			calls, out, err := newDeployment(t, tt.account, "").run(t, slices.Concat([]string{"--bucket", "assets", "--check"}, tt.args)...)
			if failed := err != nil; failed != strings.Contains(out, "FAIL") || !strings.Contains(out, tt.want) || calls != "" {
				t.Errorf("deploy.sh --check: %v, and calls %q; want %q\n%s", err, calls, tt.want, out)
			}
		})
	}
}

// TestDeploy_cdk checks what make deploy does around CDK.
func TestDeploy_cdk(t *testing.T) {
	t.Parallel()

	shows := prepares + discards
	back := changes("UPDATE", "surehook-prod", "surehook/stacks/surehook-prod/previous.template.json", "previous.parameters.json", "previous.tags.json", "")
	tests := []struct {
		name     string
		account  account
		drop     string
		want     string
		says     string
		wantFail bool
	}{
		{name: "a creation is not protected", want: "cdk deploy --all -c env=prod --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "an update is", account: account{status: "UPDATE_COMPLETE"}, want: keeps + shows + "cdk deploy --all -c env=prod -c protect=1 --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "settings stay", account: account{status: "UPDATE_COMPLETE", settings: "PORTAL_NAME\tFIXED", set: "AssetsBucket\tPortalName"}, want: keeps + shows + "cdk deploy --all -c env=prod -c protect=1 --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "a setting that the stack has is not lost", account: account{status: "UPDATE_COMPLETE", settings: "FIXED\tSENDERS\tPORTAL_NAME"}, wantFail: true, says: "does not have: SENDERS. Put"},
		{name: "nor a parameter of a release", account: account{status: "UPDATE_COMPLETE", set: "AssetsBucket\tOidcClientId"}, wantFail: true, says: `make deploy DROP="OIDC_CLIENT_ID"`},
		{name: "unless it is named", drop: "SENDERS DESTINATIONS", account: account{status: "UPDATE_COMPLETE", settings: "SENDERS\tDESTINATIONS"}, want: keeps + shows + "cdk deploy --all -c env=prod -c protect=1 --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "no queue leaves the stack", account: account{status: "UPDATE_COMPLETE", changes: removesQueues}, wantFail: true, want: keeps + shows, says: `make deploy REPLACE="Coalesce668458B6 Live848578DF"`},
		{name: "CDK changes nothing", account: account{status: "UPDATE_COMPLETE", changes: removesQueues, same: true}, want: keeps + prepares + "cdk deploy --all -c env=prod -c protect=1 --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "a failed creation is removed", account: account{status: "ROLLBACK_COMPLETE", tables: "surehook-prod-TableCD117FA1-X"}, want: removes + unprotects + "cdk deploy --all -c env=prod --outputs-file cdk.out/outputs.json\n" + protects + asks},
		{name: "a version whose API fails is taken back", account: account{status: "UPDATE_COMPLETE", broken: true}, wantFail: true, want: keeps + shows + "cdk deploy --all -c env=prod -c protect=1 --outputs-file cdk.out/outputs.json\n" + protects + strings.Repeat(asks, 5) + back},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			d := newDeployment(t, tt.account, "")
			for name, content := range map[string]string{
				"cdk.out/surehook-prod.template.json": "{\n \"Metadata\": {\n  \"Settings\": [\n   \"FIXED\",\n   \"PORTAL_NAME\"\n  ]\n }\n}\n",
				"node_modules/.bin/cdk":               "#!/bin/bash\necho \"cdk $*\" >> \"" + d.bin + "/calls\"\n[[ \"$*\" == *prepare* ]] || [ ! -e \"" + d.bin + "/broken\" ] || mv \"" + d.bin + "/broken\" \"" + d.bin + "/fails\"\n",
			} {
				path := filepath.Join(d.folder, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"--cdk", "--environment", "prod", "--stack", "surehook-prod", "--clean"}
			if tt.drop != "" {
				args = append(args, "--drop", tt.drop)
			}
			got, out, err := d.run(t, append(args, "--", "-c", "env=prod")...)
			if failed := err != nil; failed != tt.wantFail || !strings.Contains(out, tt.says) {
				t.Errorf("deploy.sh: %v; want an error: %t\n%s", err, tt.wantFail, out)
			}
			got = strings.ReplaceAll(strings.ReplaceAll(got, "s3://cdk-assets/", "s3://assets/"), "https://cdk-assets/", "https://assets/")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("deploy.sh (-want +got):\n%s\n%s", diff, out)
			}
		})
	}
}

// unpackRelease makes the folder of a release v1.2.3 with one function, and returns its path.
func unpackRelease(t *testing.T, spoil string) string {
	t.Helper()

	script, err := os.ReadFile("deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	const template = `{
 "Parameters": {
  "AssetsBucket": {
   "Type": "String"
  },
  "AssetsPrefix": {
   "Type": "String"
  },
  "AlarmEmail": {
   "Type": "String"
  },
  "ApiCertificate": {
   "Type": "String"
  },
  "OidcIssuer": {
   "Type": "String"
  },
  "SealingKey": {
   "Type": "String"
  },
  "PortalName": {
   "Type": "String"
  },
  "PrivateCa": {
   "Type": "String"
  },
  "PrivateCidrs": {
   "Type": "String"
  },
  "SignatureProfiles": {
   "Type": "String"
  }
 },
 "Resources": {
  "PrivateSender555E095C": {
   "ReservedConcurrentExecutions": 230
  },
  "Live": {
   "MaximumConcurrency": 5
  },
  "Rule": {
   "EventBusName": "orders"
  },
  "Ingest": {
   "ReservedConcurrentExecutions": 20
  },
  "Deliver": {
   "S3Key": {
    "Fn::Join": [
     "",
     [
      {
       "Ref": "AssetsPrefix"
      },
      "/deliver.zip"
     ]
    ]
   }
  }
 }
}
`
	folder := t.TempDir()
	var sums strings.Builder
	for name, content := range map[string]string{
		"deploy.sh":   strings.ReplaceAll(string(script), "@VERSION@", "v1.2.3"),
		"deliver.zip": "a function", "sender.zip": "a function of no template", "surehook-dev.template.json": template, "surehook-prod.template.json": template,
	} {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(content)), name)
		switch spoil {
		case name:
			content += " of another version"
		case "no " + name:
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&sums, "%x  surehook-linux-amd64.tar.gz\n", sha256.Sum256(nil)) // not downloaded
	if err := os.WriteFile(filepath.Join(folder, "checksums.txt"), []byte(sums.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
