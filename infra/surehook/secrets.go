package surehook

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// adminKeyLength is 43 of 62 letters and digits: 43 x log2(62) = 256 bits.
const adminKeyLength = 43

// Secrets holds the sealing key and the first API key.
type Secrets struct {
	// Key encrypts the tenants' data keys, and these seal the endpoints' secrets.
	// Function manage may only encrypt and function deliver may only decrypt.
	Key awskms.IKey
	// AdminKey holds the first API key, without the prefix "shk_", in the field
	// names.SecretAdminKeyJSON.
	AdminKey awssecretsmanager.Secret
}

// newSecrets makes the sealing key and the admin key. The loss of the sealing
// key loses every endpoint's secret. CloudFormation generates the admin key, so
// no template, log or context contains the admin key.
func newSecrets(p plan) Secrets {
	adminKey := awssecretsmanager.NewSecret(p.Construct, jsii.String("AdminKey"), &awssecretsmanager.SecretProps{
		Description: jsii.String("First admin API key of " + p.Prefix + `: "shk_" followed by the field "` + names.SecretAdminKeyJSON + `"`),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			SecretStringTemplate: jsii.String(`{"note":"API key: \"shk_\" followed by the field \"` + names.SecretAdminKeyJSON + `\""}`),
			GenerateStringKey:    jsii.String(names.SecretAdminKeyJSON),
			PasswordLength:       jsii.Number(adminKeyLength),
			ExcludePunctuation:   jsii.Bool(true),
			// A repetition of ExcludePunctuation, for emulators without support
			// for ExcludePunctuation.
			ExcludeCharacters: jsii.String("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
			IncludeSpace:      jsii.Bool(false),
			// Required digits and cases would reduce the number of possible
			// keys.
			RequireEachIncludedType: jsii.Bool(false),
		},
		RemovalPolicy: removal(p.Environment),
	})
	return Secrets{Key: newSealingKey(p), AdminKey: adminKey}
}

// newSealingKey returns the key of the environment, or one that the stack makes. In a release, a
// parameter decides.
func newSealingKey(p plan) awskms.IKey {
	own := p.Environment.SealingKey
	if own != "" && p.release == nil {
		return awskms.Key_FromKeyArn(p.Construct, jsii.String("OwnKey"), &own)
	}
	key := awskms.NewKey(p.Construct, jsii.String("Key"), &awskms.KeyProps{
		Alias:             jsii.String("alias/" + p.Prefix),
		Description:       jsii.String("Seals the signing secrets of " + p.Prefix),
		EnableKeyRotation: jsii.Bool(true),
		RemovalPolicy:     removal(p.Environment),
	})
	if p.release == nil {
		return key
	}
	makes := p.release.makesKey
	cfnOf[awskms.CfnKey](key).CfnOptions().SetCondition(makes)
	cfnOf[awskms.CfnAlias](key.Node().FindChild(jsii.String("Alias"))).CfnOptions().SetCondition(makes)
	return awskms.Key_FromKeyArn(p.Construct, jsii.String("OwnKey"), awscdk.Fn_ConditionIf(makes.LogicalId(), key.KeyArn(), own).ToString())
}
