package emulator

import (
	"os"
	"slices"
	"strings"
)

// ClientEnv returns the caller's environment for clients of the emulator.
// Without the shell's AWS settings, a profile, certificate bundle or endpoint
// cannot disturb the emulator, and no request can reach a real account. The
// emulator's settings replace the shell's.
func (e *Emulator) ClientEnv() []string {
	env := slices.DeleteFunc(slices.Clone(e.opts.Env), func(kv string) bool {
		return strings.HasPrefix(kv, "AWS_") || strings.HasPrefix(kv, "CDK_") || foreign(kv)
	})
	return append(append(env, awsEnv()...), "AWS_ENDPOINT_URL="+e.URL)
}

// serverEnv is the environment of an emulator process. The environment is an
// allow-list. Emulators read dozens of generic names (SERVICES, AUTH, USE_SSL,
// EDGE_PORT, ...), and MiniStack passes its whole environment to functions,
// including the log format. On AWS, the log format is a setting of each
// function.
func (e *Emulator) serverEnv(extra ...string) []string {
	env := slices.DeleteFunc(slices.Clone(e.opts.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains([]string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "AWS_LAMBDA_LOG_FORMAT"}, name)
	})
	return append(append(env, awsEnv()...), extra...)
}

// awsEnv is the AWS environment of every client: test credentials, one region,
// no shared configuration files and no instance metadata. Proxies apply only to
// other hosts.
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

// foreign reports whether an entry could conflict with awsEnv.
func foreign(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return strings.EqualFold(name, "no_proxy")
}
