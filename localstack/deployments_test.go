//go:build e2e && upgrade

package localstack_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/localstack/stack"
)

// deploymentLimit bounds each of these tests.
const deploymentLimit = 15 * time.Minute

var errDeploymentTooLong = errors.New("the test of deployments exceeded its time limit")

// deployer deploys the release of the environment local in the folder RELEASE, and the source, as
// people do. Its stacks stand beside that of the other tests.
type deployer struct {
	*bench
	env     []string
	bin     string // with curl
	release string // a copy of the folder
}

const releases = "surehook-releases"

func newDeployer(t *testing.T) *deployer {
	t.Helper()
	if world.emulator.Attached {
		t.Skip("the test leaves stacks on the emulator")
	}
	if os.Getenv("RELEASE") == "" {
		t.Skip("say where a release of the environment local is: make upgrade")
	}
	b := setup(t)
	ctx, cancel := context.WithTimeoutCause(b.Context(), deploymentLimit, errDeploymentTooLong)
	t.Cleanup(cancel)
	b.ctx = ctx
	d := &deployer{bench: b, bin: t.TempDir(), release: t.TempDir()}
	// The name of the API does not resolve here: curl answers as the API will.
	d.write(filepath.Join(d.bin, "curl"), "#!/bin/sh\nprintf 403\n", 0o700)
	d.env = append(world.emulator.ClientEnv(), "PATH="+d.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"CDK_DEFAULT_ACCOUNT=000000000000", "CDK_DEFAULT_REGION=us-east-1", "CDK_REQUIRE_APPROVAL=never")
	if err := os.CopyFS(d.release, os.DirFS(filepath.Join("..", os.Getenv("RELEASE")))); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("..", "aws", "s3", "mb", "s3://"+releases); err != nil && !strings.Contains(out, "BucketAlreadyOwnedByYou") {
		t.Fatal(err, out)
	}
	return d
}

func (d *deployer) write(path, text string, mode fs.FileMode) {
	d.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		d.Fatal(err)
	}
}

// run returns the output of the command.
func (d *deployer) run(dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(d.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, d.env
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "already exists") {
		d.Errorf("%s %q: something is there already:\n%s", name, args, out)
	}
	return string(out), err
}

// deploySh deploys the release.
func (d *deployer) deploySh(name string, args ...string) (string, error) {
	return d.run(d.release, "bash", slices.Concat([]string{"deploy.sh", "--bucket", releases, "--environment", "local", "--stack", name}, args)...)
}

// makeDeploy deploys the source.
func (d *deployer) makeDeploy(name string, args ...string) (string, error) {
	return d.run("..", "make", slices.Concat([]string{"deploy", "ENV=local", "PREFIX=" + name, "ARCH=" + runtime.GOARCH, "SETTINGS="}, args)...)
}

// edit changes the template of the release.
func (d *deployer) edit(change func(stack.Template)) {
	d.Helper()
	const name = "surehook-local.template.json"
	text, err := os.ReadFile(filepath.Join("..", os.Getenv("RELEASE"), name))
	if err != nil {
		d.Fatal(err)
	}
	var template stack.Template
	if err := json.Unmarshal(text, &template); err != nil {
		d.Fatal(err)
	}
	change(template)
	if text, err = json.MarshalIndent(template, "", " "); err != nil {
		d.Fatal(err)
	}
	d.write(filepath.Join(d.release, name), string(text), 0o600)
	d.write(filepath.Join(d.release, "checksums.txt"), fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name), 0o600)
}

// ids returns the physical ids of the stack's resources by their logical ones.
func (d *deployer) ids(name string) map[string]string {
	d.Helper()
	out, err := cloudformation.NewFromConfig(world.stack.AWS).DescribeStackResources(d.ctx, &cloudformation.DescribeStackResourcesInput{StackName: &name})
	if err != nil {
		d.Fatal(err)
	}
	ids := map[string]string{}
	for _, r := range out.StackResources {
		ids[aws.ToString(r.LogicalResourceId)] = aws.ToString(r.PhysicalResourceId)
	}
	return ids
}

// A release and the source take over each other's stack: nothing is made twice, and the data is
// still there. Neither loses a setting of the other unless it is told.
func TestTakeOver(t *testing.T) { //nolint:paralleltest // the test deploys
	d := newDeployer(t)
	const name = "shop-hooks"
	if out, err := d.deploySh(name, "PortalName=Shop"); err != nil {
		t.Fatal(err, out)
	}
	want := d.ids(name)
	if len(want) < 100 {
		t.Fatalf("the stack has %d resources; want all", len(want))
	}
	d.fill(want)

	d.refuses("EVENT_BUS EVENT_PATTERN PORTAL_NAME")(d.makeDeploy(name))
	if out, err := d.makeDeploy(name, "EVENT_BUS=default", `EVENT_PATTERN={"source":["com.example.shop"]}`, "PORTAL_NAME=Shop", "OWNERSHIP=challenge"); err != nil {
		t.Fatal(err, out)
	}
	d.same(name, want)

	d.refuses("OWNERSHIP PORTAL_NAME")(d.deploySh(name))
	if out, err := d.deploySh(name, "PortalName=Shop", "--drop", "OWNERSHIP"); err != nil {
		t.Fatal(err, out)
	}
	d.same(name, want)
}

// refuses checks that a deployment was refused, because it would lose the settings.
func (d *deployer) refuses(settings string) func(out string, err error) {
	d.Helper()
	return func(out string, err error) {
		d.Helper()
		if err == nil || !strings.Contains(out, "does not have: "+settings+". Put") {
			d.Fatalf("the deployment ended with %v; want it refused for %s\n%s", err, settings, out)
		}
	}
}

// fill puts data into the stack.
func (d *deployer) fill(ids map[string]string) {
	d.Helper()
	_, err := dynamodb.NewFromConfig(world.stack.AWS).PutItem(d.ctx, &dynamodb.PutItemInput{TableName: new(ids["TableCD117FA1"]), Item: marked()})
	if err != nil {
		d.Fatal(err)
	}
	if _, err := sqs.NewFromConfig(world.stack.AWS).SendMessage(d.ctx, &sqs.SendMessageInput{QueueUrl: new(ids["DeadLettersBBF8BAAB"]), MessageBody: new("kept")}); err != nil {
		d.Fatal(err)
	}
	if _, err := secretsmanager.NewFromConfig(world.stack.AWS).PutSecretValue(d.ctx, &secretsmanager.PutSecretValueInput{SecretId: new(ids["AdminKeyC19094DA"]), SecretString: new("kept")}); err != nil {
		d.Fatal(err)
	}
}

func marked() map[string]dbtypes.AttributeValue {
	return map[string]dbtypes.AttributeValue{"pk": &dbtypes.AttributeValueMemberS{Value: "kept"}, "sk": &dbtypes.AttributeValueMemberS{Value: "kept"}}
}

// same checks that the stack has the resources, and they what fill put into them.
func (d *deployer) same(name string, want map[string]string) {
	d.Helper()
	if diff := cmp.Diff(want, d.ids(name)); diff != "" {
		d.Fatalf("resources (-before +after):\n%s", diff)
	}
	item, err := dynamodb.NewFromConfig(world.stack.AWS).GetItem(d.ctx, &dynamodb.GetItemInput{TableName: new(want["TableCD117FA1"]), Key: marked()})
	if err != nil || len(item.Item) == 0 {
		d.Errorf("the item in the table: %v, %v", item, err)
	}
	if n := d.held(want["DeadLettersBBF8BAAB"]); n != 1 {
		d.Errorf("the queue holds %d messages; want 1", n)
	}
	secret, err := secretsmanager.NewFromConfig(world.stack.AWS).GetSecretValue(d.ctx, &secretsmanager.GetSecretValueInput{SecretId: new(want["AdminKeyC19094DA"])})
	if err != nil || aws.ToString(secret.SecretString) != "kept" {
		d.Errorf("the secret: %v, %v; want it as it was", secret, err)
	}
}

// absent is a parameter that nobody made. MiniStack takes any certificate, bus and reservation, but
// it resolves such a reference when it makes the resource, and fails.
const absent = "{{resolve:ssm:/surehook/absent}}"

// The creation of a protected stack fails at a late resource, at another, and at a third. What it
// made goes with it, but for the table, and then the creation succeeds: nothing is left twice.
func TestFailedCreations(t *testing.T) { //nolint:paralleltest // the test deploys
	d := newDeployer(t)
	const name = "again"
	certificate, err := d.run("..", "aws", "acm", "request-certificate", "--domain-name", "hooks.example.com", "--query", "CertificateArn", "--output", "text")
	if err != nil {
		t.Fatal(err, certificate)
	}
	// The checks before the deployment pass: only the creation itself finds what is wrong.
	args := []string{"--clean", "ApiDomain=hooks.example.com", "ApiCertificate=" + strings.TrimSpace(certificate)}
	joined := map[string]any{"Fn::Join": []any{"", []any{absent}}}
	tests := []struct {
		name, resource string
		spoil          func(properties map[string]any)
	}{
		{name: "a reservation that is refused", resource: "Deliver72E7B226", spoil: func(p map[string]any) { p["ReservedConcurrentExecutions"] = joined }},
		{name: "a bus that is gone", resource: "EventRule", spoil: func(p map[string]any) { p["EventBusName"] = joined }},
		{name: "a certificate of another name", resource: "Domain66AC69E0", spoil: func(p map[string]any) {
			p["DomainNameConfigurations"] = []any{map[string]any{"CertificateArn": joined}}
		}},
	}
	for _, tt := range tests {
		d.edit(func(template stack.Template) {
			d.protect(template)
			late := resources(template)[tt.resource]
			late["DependsOn"] = kept(template)
			properties, _ := late["Properties"].(map[string]any)
			tt.spoil(properties)
		})
		out, err := d.deploySh(name, args...)
		if began := regexp.MustCompile(`It began with:\n` + tt.resource + `\t`); err == nil || !began.MatchString(out) {
			t.Fatalf("%s: the creation ended with %v; want it to fail at %s\n%s", tt.name, err, tt.resource, out)
		}
		if diff := cmp.Diff(map[string]int{"tables": 1}, d.left(name)); diff != "" {
			t.Fatalf("%s: what the creation left (-want +got):\n%s", tt.name, diff)
		}
	}
	d.edit(d.protect)
	if out, err := d.deploySh(name, args...); err != nil {
		t.Fatal(err, out)
	}
	if diff := cmp.Diff(map[string]int{"tables": 1, "queues": 14, "functions": 6, "secrets": 1, "keys": 1}, d.left(name)); diff != "" {
		t.Errorf("after the creation (-want +got):\n%s", diff)
	}
}

// protect gives the resources of the template the policies of prod.
func (d *deployer) protect(template stack.Template) {
	d.Helper()
	text, err := os.ReadFile("../infra/surehook/testdata/prod.template.json")
	if err != nil {
		d.Fatal(err)
	}
	var prod stack.Template
	if err := json.Unmarshal(text, &prod); err != nil {
		d.Fatal(err)
	}
	of := resources(prod)
	for id, r := range resources(template) {
		for _, policy := range []string{"DeletionPolicy", "UpdateReplacePolicy"} {
			delete(r, policy)
			if value, ok := of[id][policy]; ok {
				r[policy] = value
			}
		}
	}
}

// kept returns the resources that prod keeps. What depends on them is made after them.
func kept(template stack.Template) (ids []string) {
	for id, r := range resources(template) {
		if policy, _ := r["DeletionPolicy"].(string); strings.HasPrefix(policy, "Retain") {
			ids = append(ids, id)
		}
	}
	return ids
}

// left counts the resources with the prefix, in the stack or not.
func (d *deployer) left(prefix string) map[string]int {
	d.Helper()
	cfg := world.stack.AWS
	queues, err := sqs.NewFromConfig(cfg).ListQueues(d.ctx, &sqs.ListQueuesInput{QueueNamePrefix: new(prefix + "-")})
	tables, err2 := dynamodb.NewFromConfig(cfg).ListTables(d.ctx, &dynamodb.ListTablesInput{})
	functions, err3 := lambda.NewFromConfig(cfg).ListFunctions(d.ctx, &lambda.ListFunctionsInput{})
	secrets, err4 := secretsmanager.NewFromConfig(cfg).ListSecrets(d.ctx, &secretsmanager.ListSecretsInput{})
	aliases, err5 := kms.NewFromConfig(cfg).ListAliases(d.ctx, &kms.ListAliasesInput{})
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		d.Fatal(err)
	}
	counts := map[string]int{}
	count := func(kind, name string) {
		if strings.HasPrefix(name, prefix+"-") || name == "alias/"+prefix {
			counts[kind]++
		}
	}
	for _, url := range queues.QueueUrls {
		count("queues", url[strings.LastIndex(url, "/")+1:])
	}
	for _, name := range tables.TableNames {
		count("tables", name)
	}
	for _, f := range functions.Functions {
		count("functions", aws.ToString(f.FunctionName))
	}
	for _, s := range secrets.SecretList {
		count("secrets", aws.ToString(s.Name))
	}
	for _, a := range aliases.Aliases {
		count("keys", aws.ToString(a.AliasName))
	}
	return counts
}
