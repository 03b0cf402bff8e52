package surehook

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/cxapi"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/names"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain ends CDK's JavaScript process.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// template is a synthesised CloudFormation template.
type template struct {
	Parameters map[string]map[string]any `json:"Parameters"`
	Resources  map[string]resource       `json:"Resources"`
	Outputs    map[string]any            `json:"Outputs"`
	raw        map[string]any
	notes      []note
	refused    error
}

// note is an annotation of a resource from the synthesis.
type note struct {
	level, path, text string
}

type resource struct {
	Type                string         `json:"Type"`
	Properties          map[string]any `json:"Properties"`
	DependsOn           []string       `json:"DependsOn"`
	DeletionPolicy      string         `json:"DeletionPolicy"`
	UpdateReplacePolicy string         `json:"UpdateReplacePolicy"`
}

// templates synthesises all environments once per test run. A start of CDK
// takes seconds, and CDK is not safe for concurrent use.
var templates = sync.OnceValues(func() (map[string]template, error) {
	dir, err := newDist()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system clears its temporary folder
	flags, err := featureFlags()
	if err != nil {
		return nil, err
	}

	all := map[string]template{}
	for _, env := range append(environments("arm64"), customised()) {
		app := awscdk.NewApp(&awscdk.AppProps{
			Context:            &flags,
			Outdir:             jsii.String(filepath.Join(dir, "out-"+env.Name)),
			AnalyticsReporting: jsii.Bool(false),
		})
		stack, err := NewStack(app, Props{Environment: env, Dist: dir, Version: "test"})
		if err != nil {
			return nil, err
		}
		senders, err := NewSenders(app, Props{Environment: env, Dist: dir, Version: "test"}) // before the first synthesis of the app
		if err != nil {
			return nil, err
		}
		if all[env.Name], err = newTemplate(stack); err != nil {
			return nil, err
		}
		for _, sender := range senders {
			if all[*sender.StackName()], err = newTemplate(sender); err != nil {
				return nil, err
			}
		}
	}
	for _, env := range []Environment{environments("arm64")[2], customised()} {
		app := awscdk.NewApp(&awscdk.AppProps{Context: &flags, Outdir: jsii.String(filepath.Join(dir, "released-"+env.Name)), AnalyticsReporting: jsii.Bool(false)})
		props := Props{Environment: env, Dist: dir, Version: "test"}
		if env.Name == "custom" {
			props.Settings = []string{"EVENT_BUS", "OIDC_CLIENT_ID", "PORTAL_NAME"}
		}
		stack, err := NewRelease(app, props)
		if err != nil {
			return nil, err
		}
		if all["released "+env.Name], err = newTemplate(stack); err != nil {
			return nil, err
		}
	}
	foreign, err := NewStack(awscdk.NewApp(&awscdk.AppProps{Context: &flags, AnalyticsReporting: jsii.Bool(false)}), Props{Environment: customised(), Dist: dir, Prefix: "shop-webhooks", Version: "test"})
	if err != nil {
		return nil, err
	}
	if all["foreign"], err = newTemplate(foreign); err != nil {
		return nil, err
	}
	crowded := customised()
	crowded.SignatureProfiles += strings.Repeat(" ", 900-len(crowded.SignatureProfiles))
	crowded.Portal.Logo = "data:image/png;base64," + strings.Repeat("A", 800)
	if _, err = NewStack(awscdk.NewApp(nil), Props{Environment: crowded, Dist: dir}); err == nil {
		return nil, errors.New("NewStack took variables that have no room in Lambda")
	}
	all["crowded"] = template{refused: err}
	inside := environments("arm64")[2]
	inside.Private = privateNetwork()
	inside.Private.Allow = `[{"cidrs":["10.20.0.0/16","10.30.4.0/24","fd12:3456::/48"],"ports":[443,9443],"hosts":["corp.example.com","acme.internal"],"tenants":["acme","globex"]}]`
	private, err := NewStack(awscdk.NewApp(&awscdk.AppProps{Context: &flags, AnalyticsReporting: jsii.Bool(false)}), Props{Environment: inside, Dist: dir, Version: "test"})
	if err != nil {
		return nil, err
	}
	if all["private"], err = newTemplate(private); err != nil {
		return nil, err
	}
	allocated := customised()
	allocated.Private = privateNetwork()
	allocated.Name, allocated.FixedAllocations = "allocated", []Allocation{{"eipalloc-0a", "198.51.100.7"}, {"eipalloc-0b", "198.51.100.8"}}
	own, err := NewStack(awscdk.NewApp(&awscdk.AppProps{Context: &flags, AnalyticsReporting: jsii.Bool(false)}), Props{Environment: allocated, Dist: dir, Settings: []string{"FIXED", "FIXED_ALLOCATIONS"}})
	if err != nil {
		return nil, err
	}
	if all["allocated"], err = newTemplate(own); err != nil {
		return nil, err
	}
	stack, err := newEmbedding(awscdk.NewApp(nil), dir)
	if err != nil {
		return nil, err
	}
	all["embedding"], err = newTemplate(stack)
	return all, err
})

// newDist makes a folder with something in place of each function.
func newDist() (string, error) {
	dir, err := os.MkdirTemp("", "infra-test-")
	if err != nil {
		return "", err
	}
	for _, name := range append(functionNames(), exportName, senderName) {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name, "bootstrap"), []byte(name), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

const acmeProfiles = `{"acme":{"signed":"{timestamp}.{body}","algorithm":"sha256","encoding":"hex","key":"text","headers":{"X-Acme":"t={timestamp} {signature}"}}}`

const privateList = `[{"cidrs":["10.20.0.0/16","fd12:3456::/48"],"hosts":["corp.example.com"],"ports":[443,9443]},{"cidrs":["10.20.0.0/16"],"ports":[443],"tenants":["acme"]}]`

// corpCA is an authority of the operator's.
const corpCA = `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIUCd3cZVDqUyo+n+5KGtpMucbyB98wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEY29ycDAgFw0yNjExMjkxMTQxMTVaGA8yMTI2MTEwNTExNDEx
NVowDzENMAsGA1UEAwwEY29ycDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFUy
sFc5zu/VmV2IfFltp6OpPlTVsn1lv51qW2dPi7Wv5Ullv+/fsW7ONdkT+P8JmS+B
lD2duQQ8QNyKnKwZ1FyjUzBRMB0GA1UdDgQWBBSKJNF3juOUmyPiu8M7yjxlU0Mr
yDAfBgNVHSMEGDAWgBSKJNF3juOUmyPiu8M7yjxlU0MryDAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCICmEGlid4pJBWBG6aZcu/0WqyJ8t/lpGR1Jr
EU52hbfvAiBTXelWhHpGOTFsl0NBcUwlFPNLamG8uDvDLqxRZVzOmQ==
-----END CERTIFICATE-----
`

// privateNetwork is a network of the operator. A release with all other settings has no room for a list.
func privateNetwork() Private {
	return Private{Allow: privateList, CA: corpCA, VPC: "vpc-0a1b2c3d", Subnets: []string{"subnet-0a1b2c3d", "subnet-4e5f6a7b"}}
}

// customised is an environment with all optional settings. every does not
// return this environment.
func customised() Environment {
	env := environments("arm64")[0]
	env.Name = "custom"
	env.AlarmEmail = "oncall@example.com"
	env.Traces = names.TracesXRay
	env.Senders = []string{"us-east-1", "ap-southeast-2"}
	env.FixedZones = 2
	env.Destinations = "/surehook/"
	env.Events = EventBus{Bus: "default", Pattern: `{"source":["com.example.orders"]}`}
	env.SignatureProfiles, env.Signatures = acmeProfiles, []string{"standard", "acme"}
	env.SealingKey, env.PermissionsBoundary, env.LogDays = "arn:aws:kms:eu-central-1:123456789012:key/1", "arn:aws:iam::123456789012:policy/bounds", 365
	env.EndpointsPerHost, env.Ownership = 20, names.OwnershipChallenge
	env.Producers = []string{"arn:aws:iam::210987654321:role/shop"}
	env.Domain = Domain{Name: "hooks.example.com", CertificateARN: "arn:aws:acm:eu-central-1:123456789012:certificate/1"}
	env.SignIn = names.SignIn{
		Issuer: "https://id.example.com", ClientID: "surehook", Roles: "operator=ops;support=desk", Claim: "roles", Scopes: "openid groups",
		Origins: []string{"https://token.example.com"},
	}
	env.Portal = Portal{Name: "Acme webhooks", Accent: "#0b7285", Logo: "https://app.example.com/logo.svg", Embedders: []string{"https://app.example.com"}}
	return env
}

// featureFlags reads the feature flags from cdk.json. The CDK command line
// passes these flags to the app.
func featureFlags() (map[string]any, error) {
	b, err := os.ReadFile("../cdk.json")
	if err != nil {
		return nil, err
	}
	var config struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(b, &config); err != nil {
		return nil, fmt.Errorf("read cdk.json: %w", err)
	}
	return config.Context, nil
}

func newTemplate(stack awscdk.Stack) (template, error) {
	raw := *assertions.Template_FromStack(stack, nil).ToJSON()
	b, err := json.Marshal(raw)
	if err != nil {
		return template{}, err
	}
	out := template{raw: raw, notes: notesOf(stack)}
	return out, json.Unmarshal(b, &out)
}

// notesOf returns the errors, warnings and infos of the stack's synthesis.
func notesOf(stack awscdk.Stack) []note {
	said := assertions.Annotations_FromStack(stack)
	anything := assertions.Match_AnyValue()
	var notes []note
	for level, messages := range map[string]*[]*cxapi.SynthesisMessage{ //nolint:staticcheck // the assertions return this type
		"error":   said.FindError(jsii.String("*"), anything),
		"warning": said.FindWarning(jsii.String("*"), anything),
		"info":    said.FindInfo(jsii.String("*"), anything),
	} {
		for _, m := range *messages {
			path := strings.TrimPrefix(*m.Id, "/"+*stack.StackName()+"/"+within+"/")              //nolint:staticcheck // as above
			notes = append(notes, note{level: level, path: path, text: fmt.Sprint(m.Entry.Data)}) //nolint:staticcheck // as above
		}
	}
	return notes
}

// templateOf returns the template of the environment.
func templateOf(t *testing.T, env string) template {
	t.Helper()

	all, err := templates()
	if err != nil {
		t.Fatalf("synthesise the templates: %v", err)
	}
	return all[env]
}

// every returns the environments with their templates.
func every(t *testing.T) iter.Seq2[Environment, template] {
	t.Helper()

	return func(yield func(Environment, template) bool) {
		for _, env := range environments("arm64") {
			if !yield(env, templateOf(t, env.Name)) {
				return
			}
		}
	}
}

// get returns the resource with the construct id.
func (tpl template) get(t *testing.T, kind, id string) resource {
	t.Helper()

	for logical, r := range tpl.Resources {
		if r.Type == kind && short(logical) == id {
			return r
		}
	}
	t.Fatalf("the template has no %s %s", kind, id)
	return resource{}
}

// all returns the resources of the type by id.
func (tpl template) all(kind string) map[string]resource {
	found := map[string]resource{}
	for logical, r := range tpl.Resources {
		if r.Type == kind {
			found[short(logical)] = r
		}
	}
	return found
}

// at returns the value at the path of property names, or nil.
func (r resource) at(path ...string) any {
	var v any = r.Properties
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// check compares the property at the dotted path with want.
func (r resource) check(t *testing.T, path string, want any) {
	t.Helper()

	got := r.at(strings.Split(path, ".")...)
	if n, ok := want.(int); ok {
		want = float64(n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s of %s (-want +got):\n%s", path, r.Type, diff)
	}
}

var logicalHash = regexp.MustCompile(`[0-9A-F]{8}$`)

// short is a logical id without the hash at its end.
func short(logical string) string { return logicalHash.ReplaceAllString(logical, "") }

// show formats a value of a template on one line: {"Fn::GetAtt":
// ["Live848578DF", "Arn"]} as Live.Arn.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return "${" + short(ref) + "}"
		}
		if get, ok := v["Fn::GetAtt"].([]any); ok {
			return "${" + short(show(get[0])) + "." + show(get[1]) + "}"
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			return showJoin(join)
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func showJoin(join []any) string {
	var parts []string
	items, _ := join[1].([]any)
	for _, item := range items {
		parts = append(parts, show(item))
	}
	return strings.Join(parts, show(join[0]))
}

// checkGolden compares the value's JSON with the file in testdata, or writes
// the file with -update.
func checkGolden(t *testing.T, name string, value any) {
	t.Helper()

	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		t.Fatalf("encode %s: %v", name, err)
	}
	got := assetHash.ReplaceAll(buf.Bytes(), []byte("<asset>"))
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatalf("update %s: %v", path, err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read %s: %v; make it with -update", path, err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), rewrite it with -update:\n%s", path, diff)
	}
}

// assetHash matches the hash of a built function. The hash changes with every
// change of the code.
var assetHash = regexp.MustCompile(`[0-9a-f]{64}`)
