// Command infra is the CDK app. It makes the stack of one environment, and the stacks of its
// senders, from the construct in package infra/surehook. Other apps can embed the construct.
//
// The CDK command line runs the app (see cdk.json). Context values choose the stacks:
//
//	-c env=dev|staging|prod|local   the environment; required
//	-c prefix=PREFIX                the stack and the prefix of all names; default: surehook-ENV
//	-c dist=DIR                     the folder of the built functions: DIR/<function>/bootstrap
//	-c arch=arm64|amd64             local only: the architecture of the functions
//	-c host=NAME                    local only: one more host for deliveries, at private addresses
//	-c version=VERSION              the tag surehook:version of the resources; default: dev
//	-c protect=1                    terminate prod's stack never; not for its creation, which may fail and be removed
//	-c release=1                    a template to deploy without CDK, see surehook.NewRelease; not with senders
//	-c email=ADDRESS                the recipient of alarms and operational events; default: nobody
//	-c traces=xray|URL              the destination of spans: X-Ray or an OTLP endpoint; default: none
//	-c event_bus=NAME|ARN           a bus of EventBridge with events for Surehook, together with
//	-c event_pattern=JSON           the pattern of the rule on the bus
//	-c tenant_path=PATH             the tenant in an event of the bus; default: detail.tenant
//	-c validation=off|warn|reject   what happens to events that do not fit their event type; default: off
//	-c endpoints_per_host=N         the most endpoints of a tenant with one host; default: no limit
//	-c ownership=challenge          receivers answer a challenge before an endpoint is stored; default: no proof
//	-c senders=REGION,...           other regions that can send requests, a stack in each; default: none
//	-c fixed=ZONES                  fixed source addresses in 1 or 2 zones, with a NAT gateway each; default: 0
//	-c envelope=standard|raw        the envelope of new endpoints that name none; default: standard
//	-c signature_profiles=FILE      JSON with further signature profiles, by name; default: none
//	-c signatures=NAME,...          the signature profiles of new endpoints that name none; default: standard
//	-c destinations=PATH            the path of roles for deliveries to SQS and EventBridge, such as /surehook/; default: HTTP only
//	-c domain=NAME                  a custom domain for the API, together with
//	-c certificate=ARN              the domain's ACM certificate in the stack's region
//	-c portal_name=TEXT             the title of the tenants' portal
//	-c portal_accent=#RRGGBB        the color of the portal
//	-c portal_logo=URL              the logo of the portal
//	-c portal_embedders=ORIGIN,...  origins whose pages may embed the portal
//	-c oidc_issuer=URL              the issuer of people's tokens, together with
//	-c oidc_client_id=ID            the client id at the issuer, and
//	-c oidc_roles=ROLE=GROUP;...    the groups with the roles operator, support and read-only
//	-c oidc_claim=NAME              the groups in a token; default: groups
//	-c oidc_scopes=TEXT             the scopes that the console asks for; default: openid email profile
//	-c oidc_origins=ORIGIN,...      other origins of the issuer's token endpoint
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/infra/surehook"
	"surehook.example/surehook/internal/names"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		os.Exit(1)
	}
}

// run writes the templates to the output folder of the CDK command line.
func run() error {
	defer jsii.Close()

	app := awscdk.NewApp(nil)
	env, err := surehook.EnvironmentNamed(contextOf(app, "env", ""), contextOf(app, "arch", ""))
	if err != nil {
		return fmt.Errorf("choose the environment: %w", err)
	}
	env.EgressHost = contextOf(app, "host", "")
	env.AlarmEmail = contextOf(app, "email", "")
	env.Traces = contextOf(app, "traces", "")
	env.Events = surehook.EventBus{Bus: contextOf(app, "event_bus", ""), Pattern: contextOf(app, "event_pattern", ""), TenantPath: contextOf(app, "tenant_path", "")}
	env.Validation = contextOf(app, "validation", "")
	env.Envelope = contextOf(app, "envelope", "")
	if file := contextOf(app, "signature_profiles", ""); file != "" {
		if env.SignatureProfiles, err = compactFile(file); err != nil {
			return fmt.Errorf("read -c signature_profiles: %w", err)
		}
	}
	if profiles := contextOf(app, "signatures", ""); profiles != "" {
		env.Signatures = strings.Split(profiles, ",")
	}
	env.Destinations = contextOf(app, "destinations", "")
	env.Domain = surehook.Domain{Name: contextOf(app, "domain", ""), CertificateARN: contextOf(app, "certificate", "")}
	env.Portal = surehook.Portal{Name: contextOf(app, "portal_name", ""), Accent: contextOf(app, "portal_accent", ""), Logo: contextOf(app, "portal_logo", "")}
	if origins := contextOf(app, "portal_embedders", ""); origins != "" {
		env.Portal.Embedders = strings.Split(origins, ",")
	}
	env.SignIn = names.SignIn{
		Issuer: contextOf(app, "oidc_issuer", ""), ClientID: contextOf(app, "oidc_client_id", ""), Roles: contextOf(app, "oidc_roles", ""),
		Claim: contextOf(app, "oidc_claim", ""), Scopes: contextOf(app, "oidc_scopes", ""),
	}
	if origins := contextOf(app, "oidc_origins", ""); origins != "" {
		env.SignIn.Origins = strings.Split(origins, ",")
	}
	if regions := contextOf(app, "senders", ""); regions != "" {
		env.Senders = strings.Split(regions, ",")
	}
	if env.FixedZones, err = strconv.Atoi(contextOf(app, "fixed", "0")); err != nil {
		return fmt.Errorf("read -c fixed: %w", err)
	}
	if env.EndpointsPerHost, err = strconv.Atoi(contextOf(app, "endpoints_per_host", "0")); err != nil {
		return fmt.Errorf("read -c endpoints_per_host: %w", err)
	}
	env.Ownership = contextOf(app, "ownership", "")
	if err := newStacks(app, env); err != nil {
		return err
	}
	app.Synth(nil)

	return nil
}

// newStacks makes the main stack and the stacks of the senders, or a release. The senders are
// deployed first, because deliver may call them as soon as it runs.
func newStacks(app awscdk.App, env surehook.Environment) error {
	props := surehook.Props{
		Environment: env,
		Dist:        contextOf(app, "dist", "../dist"),
		Prefix:      contextOf(app, "prefix", ""),
		Version:     contextOf(app, "version", "dev"),
		Protect:     contextOf(app, "protect", "") != "",
	}
	if contextOf(app, "release", "") != "" {
		if len(env.Senders) > 0 {
			return errors.New("-c senders does not go with -c release: each sender has a stack of its own")
		}
		if _, err := surehook.NewRelease(app, props); err != nil {
			return fmt.Errorf("make the release: %w", err)
		}
		return nil
	}
	stack, err := surehook.NewStack(app, props)
	if err != nil {
		return fmt.Errorf("make the stack: %w", err)
	}
	senders, err := surehook.NewSenders(app, props)
	if err != nil {
		return fmt.Errorf("make the senders: %w", err)
	}
	for _, sender := range senders {
		stack.AddStackDependency(sender, jsii.String("deliver calls the sender"))
	}
	return nil
}

// contextOf returns the value of -c key=..., or fallback if it is missing or empty.
func contextOf(app awscdk.App, key, fallback string) string {
	if value, ok := app.Node().TryGetContext(jsii.String(key)).(string); ok && value != "" {
		return value
	}
	return fallback
}

// compactFile returns the JSON of a file without white space.
func compactFile(path string) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err //nolint:wrapcheck // the error names the file
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return "", fmt.Errorf("%s is not valid JSON: %w", path, err)
	}
	return compact.String(), nil
}
