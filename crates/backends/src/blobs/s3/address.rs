//! Where a bucket is, and how it is reached: the URL, the settings, and the variables that every S3 program knows.

use std::fmt;

use docmill_core::config::{BlobSettings, CloudVariables};
use docmill_core::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::super::keys::check_key;

/// Where AWS itself answers, in the region of a bucket.
const AWS: &str = "https://s3.{region}.amazonaws.com";

/// The region of whoever names none. Servers that are not AWS have no regions, but sign with one.
const REGION: &str = "us-east-1";

/// Variables that say who docmill is: keys, a role of the machine or of a container, and what encrypts at rest.
/// Others of their kind say what this module decides by itself.
const HANDED_ON: &[(&str, AmazonS3ConfigKey)] = {
    use AmazonS3ConfigKey as Key;
    &[
        ("AWS_ACCESS_KEY_ID", Key::AccessKeyId),
        ("AWS_SECRET_ACCESS_KEY", Key::SecretAccessKey),
        ("AWS_SESSION_TOKEN", Key::Token),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", Key::WebIdentityTokenFile),
        ("AWS_ROLE_ARN", Key::RoleArn),
        ("AWS_ROLE_SESSION_NAME", Key::RoleSessionName),
        ("AWS_ENDPOINT_URL_STS", Key::StsEndpoint),
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
        ("AWS_METADATA_ENDPOINT", Key::MetadataEndpoint),
    ]
};

/// Variables of which one must be set where no machine's role can be asked for.
const IDENTITIES: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// A bucket, or a folder of one.
#[derive(Clone, Debug)]
pub(super) struct Address {
    /// Scheme, host and port of the server, without a slash at the end.
    pub(super) endpoint: String,
    pub(super) region: String,
    pub(super) bucket: String,
    /// What every key begins with: nothing, or a folder with its slash.
    pub(super) prefix: String,
}

impl Address {
    /// Reads `//bucket/prefix` and what surrounds it.
    pub(super) fn new(rest: &str, settings: &BlobSettings) -> Result<Self> {
        let variables = &settings.variables;
        let (bucket, prefix) = place(rest)?;
        let region = first([&settings.region], variables, &["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let region = region.unwrap_or_else(|| REGION.to_owned());
        let own = first([&settings.endpoint], variables, &["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]);
        let endpoint = match own {
            Some(endpoint) => server(&endpoint)?,
            None => AWS.replace("{region}", &region),
        };
        Ok(Self { endpoint, region, bucket, prefix })
    }

    /// Whether connections are open to every reader.
    pub(super) fn is_plain(&self) -> bool {
        self.endpoint.starts_with("http://")
    }

    /// Host and port.
    pub(super) fn host(&self) -> &str {
        self.endpoint.split_once("://").map_or(self.endpoint.as_str(), |(_, host)| host)
    }

    /// The key of a blob in the bucket.
    pub(super) fn key(&self, blob: &str) -> Result<String> {
        check_key(blob)?;
        Ok(format!("{}{blob}", self.prefix))
    }

    /// What the keys of a folder begin with.
    pub(super) fn folder(&self, folder: &str) -> Result<String> {
        if folder.is_empty() { Ok(self.prefix.clone()) } else { Ok(format!("{}/", self.key(folder)?)) }
    }

    /// Says who docmill is.
    pub(super) fn identify(&self, variables: &CloudVariables) -> Result<AmazonS3Builder> {
        let is_set = |name: &&str| variables.get(name).is_some();
        let disabled = variables.get("AWS_EC2_METADATA_DISABLED") == Some("true");
        // Only a machine of AWS can tell its role; elsewhere nobody would answer.
        let has_role = self.endpoint == AWS.replace("{region}", &self.region) && !disabled;
        if !has_role && !IDENTITIES.iter().any(is_set) {
            return Err(no_credentials(self));
        }
        for (one, other) in
            [("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")]
        {
            if is_set(&one) && !is_set(&other) {
                return Err(Error::invalid_config(format!(
                    "{one} is set in the environment, but not {other}"
                ))
                .with_hint("set both or none"));
            }
        }
        let known = HANDED_ON.iter().filter_map(|(name, key)| Some((*key, variables.get(name)?)));
        Ok(known.fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bucket `{}` at {}", self.bucket, self.endpoint)
    }
}

/// Nobody has told docmill who it is.
pub(super) fn no_credentials(address: &Address) -> Error {
    Error::invalid_config(format!("there are no credentials for {address}")).with_hint(
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or run where a role of AWS is given",
    )
}

/// Bucket and prefix of `//bucket/prefix`.
fn place(rest: &str) -> Result<(String, String)> {
    let wrong = |why: &str| {
        Error::invalid_config(format!("blob store `s3:{rest}` {why}"))
            .with_hint("write for instance `s3://bucket` or `s3://bucket/folder`")
    };
    let place = rest.strip_prefix("//").ok_or_else(|| wrong("names no bucket"))?;
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if bucket.is_empty() || !bucket.chars().all(plain) {
        return Err(wrong("names no bucket"));
    }
    let prefix = prefix.trim_end_matches('/');
    if prefix.is_empty() {
        return Ok((bucket.to_owned(), String::new()));
    }
    check_key(prefix).map_err(|e| wrong("has a prefix that cannot begin a key").with_source(e))?;
    Ok((bucket.to_owned(), format!("{prefix}/")))
}

/// An address of a server and nothing more: a path behind it would be taken for a bucket.
fn server(endpoint: &str) -> Result<String> {
    let trimmed = endpoint.trim_end_matches('/');
    let host = trimmed.strip_prefix("http://").or_else(|| trimmed.strip_prefix("https://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) => Ok(trimmed.to_owned()),
        _ => {
            Err(Error::invalid_config(format!("the S3 endpoint `{endpoint}` is not the address of a server"))
                .with_hint("write scheme and host in `blobs.endpoint`, for instance `http://127.0.0.1:9000`"))
        }
    }
}

/// The first that says something: a setting, then the variables in their order.
fn first<'s>(
    settings: impl IntoIterator<Item = &'s String>,
    variables: &CloudVariables,
    names: &[&str],
) -> Option<String> {
    let set = settings.into_iter().find(|value| !value.is_empty()).cloned();
    set.or_else(|| names.iter().find_map(|name| variables.get(name)).map(ToOwned::to_owned))
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> BlobSettings {
        let variables = CloudVariables::of(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        BlobSettings { variables, ..BlobSettings::default() }
    }

    #[test]
    fn url_names_bucket_and_prefix() {
        for (url, bucket, prefix) in [
            ("//docs", "docs", ""),
            ("//docs/", "docs", ""),
            ("//my.docs-1/a", "my.docs-1", "a/"),
            ("//docs/a/b//", "docs", "a/b/"),
        ] {
            let address = Address::new(url, &settings(&[])).unwrap();
            assert_eq!((address.bucket.as_str(), address.prefix.as_str()), (bucket, prefix), "{url}");
        }
        for url in
            ["", "docs", "//", "///a", "//do cs", "//docs/../x", "//docs/.x", "//docs/a//b", "//docs/ü"]
        {
            let error = Address::new(url, &settings(&[])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{url}");
            assert!(error.hint().is_some_and(|hint| hint.contains("s3://bucket")), "{url}");
        }
    }

    #[test]
    fn settings_win_over_variables_and_those_over_aws() {
        let address = |settings: &BlobSettings| {
            let address = Address::new("//b", settings).unwrap();
            (address.endpoint, address.region)
        };
        let pair = |endpoint: &str, region: &str| (endpoint.to_owned(), region.to_owned());
        assert_eq!(address(&settings(&[])), pair("https://s3.us-east-1.amazonaws.com", "us-east-1"));
        let mut all = vec![("AWS_DEFAULT_REGION", "eu-west-1"), ("AWS_ENDPOINT_URL", "http://one:1/")];
        assert_eq!(address(&settings(&all)), pair("http://one:1", "eu-west-1"));
        all.extend([("AWS_REGION", "eu-west-2"), ("AWS_ENDPOINT_URL_S3", "https://two")]);
        assert_eq!(address(&settings(&all)), pair("https://two", "eu-west-2"));
        let mut set = settings(&all);
        (set.endpoint, set.region) = pair("http://three", "here");
        assert_eq!(address(&set), pair("http://three", "here"));
        assert!(Address::new("//b", &set).unwrap().is_plain());
    }

    #[test]
    fn endpoint_must_be_a_server_alone() {
        for endpoint in ["host:9000", "http://", "http://host/bucket", "http://user@host", "s3://host"] {
            let error = Address::new("//b", &settings(&[("AWS_ENDPOINT_URL", endpoint)])).unwrap_err();
            assert!(error.message().contains(endpoint), "{error}");
        }
    }

    #[test]
    fn nobody_is_asked_for_a_role_where_there_is_none() {
        let identify = |pairs: &[(&str, &str)]| {
            let settings = settings(pairs);
            Address::new("//b", &settings).unwrap().identify(&settings.variables).map(drop)
        };
        let server = ("AWS_ENDPOINT_URL", "http://127.0.0.1:9000");
        let error = identify(&[server]).unwrap_err();
        assert_eq!(error.message(), "there are no credentials for bucket `b` at http://127.0.0.1:9000");
        assert!(identify(&[("AWS_EC2_METADATA_DISABLED", "true")]).is_err());
        assert!(identify(&[]).is_ok(), "a machine of AWS may have a role");
        let half = identify(&[server, ("AWS_ACCESS_KEY_ID", "id")]).unwrap_err();
        assert!(half.message().contains("not AWS_SECRET_ACCESS_KEY"), "{half}");
        assert!(identify(&[server, ("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "x")]).is_ok());
    }

    #[test]
    fn keys_stay_below_the_prefix() {
        let address = Address::new("//b/a", &settings(&[])).unwrap();
        assert_eq!(address.key("documents/x.pdf").unwrap(), "a/documents/x.pdf");
        assert_eq!(address.folder("documents").unwrap(), "a/documents/");
        assert_eq!(address.folder("").unwrap(), "a/");
        assert!(address.key("../x").is_err() && address.folder("../").is_err());
    }
}
