package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/infra/surehook"
	"surehook.example/surehook/internal/names"
)

// schemaText describes the settings of a deployment. The table in docs/deploying.md is written from it.
//
//go:embed settings.schema.json
var schemaText []byte

// settings are the settings of a deployment by name. One without a value is not set.
type settings map[string]string

// files are the settings that name a file, from the folder of the file of settings.
var files = []string{"SIGNATURE_PROFILES", "PRIVATE_ALLOW", "PRIVATE_CA"}

// readSettings reads the file, if there is one, and checks it and the overrides against the schema.
// An override without a value overrides nothing.
func readSettings(file string, override func(name string) string) (settings, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("settings.schema.json", document); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	schema, err := compiler.Compile("settings.schema.json")
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}

	all := map[string]any{}
	if file != "" {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("%s is not a JSON object: %w", file, err)
		}
		for _, name := range files {
			if path, ok := all[name].(string); ok && !filepath.IsAbs(path) {
				all[name] = filepath.Join(filepath.Dir(file), path)
			}
		}
	}
	for name := range schema.Properties {
		if value := override(name); value != "" {
			all[name] = value
		}
	}
	if err := schema.Validate(all); err != nil {
		return nil, fmt.Errorf("check the settings %s: %w", file, err)
	}
	delete(all, "$schema")
	s := settings{}
	for name, value := range all {
		s[name], _ = value.(string) // by the schema
	}
	return s, s.read()
}

// read puts the content of each file in place of its path: JSON without white space, and PEM as it is.
func (s settings) read() error {
	for _, name := range files {
		if s[name] == "" {
			continue
		}
		text, err := os.ReadFile(s[name])
		if err == nil && name != "PRIVATE_CA" {
			var compact bytes.Buffer
			err = json.Compact(&compact, text)
			text = compact.Bytes()
		}
		if err != nil {
			return fmt.Errorf("read %s from %s: %w", name, s[name], err)
		}
		s[name] = string(text)
	}
	return nil
}

// names returns the settings that are set, sorted.
func (s settings) names() []string { return slices.Sorted(maps.Keys(s)) }

// list returns the parts of a setting with commas between; nil for none.
func (s settings) list(name string) []string {
	if s[name] == "" {
		return nil
	}
	return strings.Split(s[name], ",")
}

// number returns a number; 0 for none.
func (s settings) number(name string) int {
	n, _ := strconv.Atoi(s[name]) // by the schema
	return n
}

// apply sets the settings of the environment.
func (s settings) apply(env *surehook.Environment) {
	env.SignatureProfiles = s["SIGNATURE_PROFILES"]
	env.Private = surehook.Private{
		Allow: s["PRIVATE_ALLOW"], CA: s["PRIVATE_CA"], VPC: s["PRIVATE_VPC"], Subnets: s.list("PRIVATE_SUBNETS"), Groups: s.list("PRIVATE_GROUPS"),
	}
	env.AlarmEmail, env.Traces, env.Validation = s["ALARM_EMAIL"], s["TRACES"], s["VALIDATION"]
	env.Events = surehook.EventBus{Bus: s["EVENT_BUS"], Pattern: s["EVENT_PATTERN"], TenantPath: s["TENANT_PATH"]}
	env.Producers = s.list("PRODUCERS")
	env.SealingKey, env.PermissionsBoundary = s["SEALING_KEY"], s["PERMISSIONS_BOUNDARY"]
	if days := s.number("LOG_DAYS"); days != 0 {
		env.LogDays = days
	}
	env.EndpointsPerHost, env.Ownership = s.number("ENDPOINTS_PER_HOST"), s["OWNERSHIP"]
	env.Senders, env.FixedZones = s.list("SENDERS"), s.number("FIXED")
	for _, one := range s.list("FIXED_ALLOCATIONS") {
		id, address, _ := strings.Cut(one, "=")
		env.FixedAllocations = append(env.FixedAllocations, surehook.Allocation{ID: id, Address: address})
	}
	env.Envelope, env.Signatures, env.Destinations = s["ENVELOPE"], s.list("SIGNATURES"), s["DESTINATIONS"]
	env.Domain = surehook.Domain{Name: s["API_DOMAIN"], CertificateARN: s["API_CERTIFICATE"]}
	env.Portal = surehook.Portal{Name: s["PORTAL_NAME"], Accent: s["PORTAL_ACCENT"], Logo: s["PORTAL_LOGO"], Embedders: s.list("PORTAL_EMBEDDERS")}
	env.SignIn = names.SignIn{
		Issuer: s["OIDC_ISSUER"], ClientID: s["OIDC_CLIENT_ID"], Roles: s["OIDC_ROLES"], Claim: s["OIDC_CLAIM"], Scopes: s["OIDC_SCOPES"], Origins: s.list("OIDC_ORIGINS"),
	}
}
