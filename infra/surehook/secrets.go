package surehook

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"surehook/internal/names"
)

// adminKeyLength is 43 of 62 letters and digits: 43 x log2(62) = 256 bits.
const adminKeyLength = 43

// Secrets is what keeps secrets secret.
type Secrets struct {
	// Key seals the endpoints' signing secrets. manage may only encrypt with it,
	// deliver only decrypt.
	Key awskms.Key
	// AdminKey holds the first API key, without the prefix "shk_", in the field
	// names.SecretAdminKeyJSON.
	AdminKey awssecretsmanager.Secret
}

// SecretsProps says what NewSecrets makes.
type SecretsProps struct {
	Prefix      string // of the key's alias
	Environment Environment
}

// NewSecrets makes the sealing key, whose loss would be the loss of every
// endpoint's secret, and the admin key, which CloudFormation generates: it is
// in no template, no log and no context.
func NewSecrets(scope constructs.Construct, props SecretsProps) Secrets {
	key := awskms.NewKey(scope, jsii.String("Key"), &awskms.KeyProps{
		Alias:             &props.Prefix,
		Description:       jsii.String("Seals the signing secrets of " + props.Prefix),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     removal(props.Environment),
	})
	adminKey := awssecretsmanager.NewSecret(scope, jsii.String("AdminKey"), &awssecretsmanager.SecretProps{
		Description: jsii.String("First admin API key of " + props.Prefix + `: "shk_" followed by the field "` + names.SecretAdminKeyJSON + `"`),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			SecretStringTemplate: jsii.String(adminKeyTemplate()),
			GenerateStringKey:    jsii.String(names.SecretAdminKeyJSON),
			PasswordLength:       jsii.Number(adminKeyLength),
			ExcludePunctuation:   jsii.Bool(true),
			// The same once more: not every emulator knows ExcludePunctuation.
			ExcludeCharacters: jsii.String("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
			IncludeSpace:      jsii.Bool(false),
			// Demanding a digit and both cases would make fewer keys possible.
			RequireEachIncludedType: jsii.Bool(false),
		},
		RemovalPolicy: removal(props.Environment),
	})
	return Secrets{Key: key, AdminKey: adminKey}
}

// adminKeyTemplate is the JSON object that the generated field is added to.
func adminKeyTemplate() string {
	b, _ := json.Marshal(map[string]string{"note": `API key: "shk_" followed by the field "` + names.SecretAdminKeyJSON + `"`}) //nolint:errchkjson // a map of strings always encodes
	return string(b)
}
