package emulator

import (
	"os"
	"slices"
	"strings"
)

// ClientEnv returns the caller's environment as clients of the emulator need
// it: all AWS settings of the shell are gone (a profile, a certificate bundle
// or an endpoint there must neither disturb the emulator nor let anything
// reach a real account), and the emulator's are there.
func (e *Emulator) ClientEnv() []string {
	env := slices.DeleteFunc(slices.Clone(e.opts.Env), func(kv string) bool {
		return strings.HasPrefix(kv, "AWS_") || strings.HasPrefix(kv, "CDK_") || foreign(kv)
	})
	return append(append(env, awsEnv()...), "AWS_ENDPOINT_URL="+e.URL)
}

// serverEnv is the environment of an emulator that runs as a process. It is an
// allow-list: emulators read dozens of generic names (SERVICES, AUTH, USE_SSL,
// EDGE_PORT, ...), and MiniStack hands its whole environment on to functions:
// among it the format of their logs, which on AWS is a setting of each function.
func (e *Emulator) serverEnv(extra ...string) []string {
	env := slices.DeleteFunc(slices.Clone(e.opts.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "AWS_LAMBDA_LOG_FORMAT"}, name)
	})
	return append(append(env, awsEnv()...), extra...)
}

// awsEnv is what every AWS client here is told: test credentials, one region,
// no shared configuration files and no instance metadata. Proxies are for the
// world outside.
func awsEnv() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test",
		"AWS_REGION=" + Region,
		"AWS_DEFAULT_REGION=" + Region,
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
		"NO_PROXY=127.0.0.1,localhost",
		"no_proxy=127.0.0.1,localhost",
	}
}

// foreign reports whether an entry would be contradicted by awsEnv.
func foreign(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return strings.EqualFold(name, "no_proxy")
}
