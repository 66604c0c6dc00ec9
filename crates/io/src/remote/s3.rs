//! Objects in buckets of S3-compatible stores. `object_store` configures the store from settings,
//! by default those in the environment, and signs requests; this module's HTTP transport sends
//! them.

use core::error::Error as _;
use core::ops::Range;
use std::ffi::OsString;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use linerate_core::{Error, Kind, Result, lock};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService,
};
use object_store::path::{Path, PathPart};
use object_store::{ClientOptions, GetOptions, GetRange, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Handle};
use ureq::http::{Extensions, Request, Response};

use super::HttpOptions;
use super::http::{HttpTransport, range_response, status_error};
use super::remote_file::RemoteFile;
use super::request_error::RequestError;
use super::response::FileVersion;
use super::retry::{RangeRequester, RangeResponse, RetryClient};
use crate::read_at::ReadAt;
use crate::url::is_s3_url;

/// A file in a bucket of an S3-compatible store, at `s3://BUCKET/KEY`. It is read and checked like
/// a [`crate::HttpSource`]; range requests after the first response require the `ETag` of the
/// object that was opened, if it is a strong one. Redirects are not followed.
///
/// Store and credentials come from the usual environment variables, unless
/// [`open_with`](Self::open_with) replaces them: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`,
/// `AWS_REGION` or `AWS_DEFAULT_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
/// `AWS_SESSION_TOKEN`, `AWS_VIRTUAL_HOSTED_STYLE_REQUEST`, `AWS_REQUEST_PAYER`, and the variables
/// for credentials of web identities and containers. Without credentials requests are not signed,
/// as public buckets expect. Connections to the store are encrypted unless the endpoint begins with
/// `http://`.
#[derive(Debug)]
pub struct S3Source(RemoteFile);

impl S3Source {
    /// Opens the file at `url` with the default [`HttpOptions`] and the configuration in the
    /// environment.
    ///
    /// # Errors
    ///
    /// Returns [`Kind::BadArgument`] for an invalid URL, or an incomplete or wrong configuration;
    /// [`Kind::Read`] if the object is at another address, the server of the credentials gives none
    /// out or cannot be reached, or no thread can be started; and the errors of
    /// [`crate::HttpSource::open`].
    pub fn open(url: &str) -> Result<S3Source> {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        S3Source::open_with(url, HttpOptions::default(), std::env::vars_os().filter_map(text))
    }

    /// Opens the file at `url` with other options. `settings` replace the variables in the
    /// environment, and have their names. Other names and empty values are ignored.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`S3Source::open`].
    pub fn open_with(
        url: &str,
        options: HttpOptions,
        settings: impl IntoIterator<Item = (impl AsRef<str>, impl Into<String>)>,
    ) -> Result<S3Source> {
        let (bucket, key) = parts(url).ok_or(bad_argument("an S3 URL is s3://BUCKET/KEY"))?;
        let path = path_of(key);
        let path =
            path.ok_or(bad_argument("an S3 URL whose key begins with `/` or has a part `.` or `..`"))?;
        let object = Object::new(store(settings).with_bucket_name(bucket), path, &options)?;
        RemoteFile::open(RetryClient::new(object, options)).map(S3Source)
    }
}

/// Makes the builder of a store with these settings. Ignores empty values, and names that are not
/// settings of a store.
fn store(settings: impl IntoIterator<Item = (impl AsRef<str>, impl Into<String>)>) -> AmazonS3Builder {
    let mut store = AmazonS3Builder::new();
    for (name, value) in settings {
        let (name, value) = (name.as_ref(), value.into());
        if name.starts_with("AWS_")
            && !value.is_empty()
            && let Ok(key) = name.to_ascii_lowercase().parse()
        {
            store = store.with_config(key, value);
        }
    }
    store
}

impl ReadAt for S3Source {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn end(&self) -> Option<Error> {
        self.0.end()
    }

    fn coalesce_limit(&self) -> u64 {
        self.0.coalesce_limit()
    }
}

const fn bad_argument(message: &'static str) -> Error {
    Error::new(Kind::BadArgument, 0, message)
}

/// Splits a URL into bucket and key.
fn parts(url: &str) -> Option<(&str, &str)> {
    let (bucket, key) = url.get(5..).filter(|_| is_s3_url(url))?.split_once('/')?;
    // Reject bytes that could end a host name.
    let plain = bucket.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
    (!bucket.is_empty() && !key.is_empty() && plain).then_some((bucket, key))
}

/// Parses the key as a path, part by part. Parsing it as a whole would refuse empty parts, which
/// keys may have.
fn path_of(key: &str) -> Option<Path> {
    let mut path = Path::ROOT;
    for text in key.split('/') {
        path = path.join(if text.is_empty() { PathPart::from("") } else { PathPart::parse(text).ok()? });
    }
    // If parsing changes the key, it would name another object.
    (path.as_ref() == key).then_some(path)
}

/// Requests ranges of an object of a store.
#[derive(Debug)]
struct Object {
    store: AmazonS3,
    path: Path,
}

impl Object {
    fn new(store: AmazonS3Builder, path: Path, options: &HttpOptions) -> Result<Object> {
        use AmazonS3ConfigKey::{
            AccessKeyId, ContainerCredentialsFullUri, ContainerCredentialsRelativeUri, Endpoint, S3Endpoint,
            SecretAccessKey, WebIdentityTokenFile,
        };
        let says = |key: AmazonS3ConfigKey| store.get_config_value(&key);
        let endpoint = says(S3Endpoint).or_else(|| says(Endpoint));
        let begins = |scheme: &str| {
            let start = endpoint.as_ref().and_then(|endpoint| endpoint.get(..scheme.len()));
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        let plain = begins("http://");
        if endpoint.is_some() && !plain && !begins("https://") {
            return Err(bad_argument("the S3 endpoint does not begin with http:// or https://"));
        }
        let credentials = [
            AccessKeyId,
            SecretAccessKey,
            WebIdentityTokenFile,
            ContainerCredentialsFullUri,
            ContainerCredentialsRelativeUri,
        ];
        let anonymous = credentials.into_iter().all(|key| says(key).is_none());
        let signed = if anonymous { store.with_skip_signature(true) } else { store };
        let store = signed
            .with_allow_http(plain)
            .with_http_connector(Connector(options.clone()))
            // `RetryClient` retries.
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            .build()
            .map_err(|_| bad_argument("the S3 settings (AWS_*) are incomplete or wrong"))?;
        Ok(Object { store, path })
    }
}

/// Runs a future of the store and waits for it, on this thread, or on a new thread if this one is
/// in a Tokio runtime, where `block_on` may panic.
fn wait<T: Send>(work: impl Future<Output = T> + Send) -> io::Result<T> {
    let here = |work| Ok(Builder::new_current_thread().enable_time().build()?.block_on(work));
    if Handle::try_current().is_err() {
        return here(work);
    }
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || here(work))?;
        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Finds the error that a [`Service`] returned among the causes of the store's error.
fn cause(error: &object_store::Error) -> Option<RequestError> {
    let mut causes = core::iter::successors(error.source(), |&error| error.source());
    causes.find_map(|error| error.downcast_ref()).cloned()
}

impl RangeRequester for Object {
    fn request(
        &self,
        wanted: Range<u64>,
        version: Option<&FileVersion>,
    ) -> core::result::Result<RangeResponse, RequestError> {
        let call = Call::default();
        let mut extensions = Extensions::new();
        extensions.insert(call.clone());
        let options = GetOptions {
            range: Some(GetRange::Bounded(wanted)),
            if_match: version.and_then(FileVersion::strong_etag).map(str::to_owned),
            extensions,
            ..GetOptions::default()
        };
        let checked = wait(self.store.get_opts(&self.path, options));
        let checked = checked.map_err(|_| {
            RequestError::transient("the system starts no thread for an S3 request", Duration::ZERO)
        })?;
        match (call.take(), checked) {
            (Some(Ok(answer)), Ok(_)) => Ok(answer),
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(_)), Err(_)) => Err(RequestError::corrupt("the server's answer is not one of S3")),
            (None, checked) => {
                let unsent =
                    "no S3 request can be made: its credentials are not given out, or its endpoint is wrong";
                Err(checked.err().as_ref().and_then(cause).unwrap_or(RequestError::io(unsent)))
            }
        }
    }
}

/// Takes the result of a range request past `object_store`, which sees only the head of the
/// response. The body is read directly from the connection.
#[derive(Clone, Default)]
struct Call(Arc<Mutex<Option<core::result::Result<RangeResponse, RequestError>>>>);

impl Call {
    fn put(&self, answer: core::result::Result<RangeResponse, RequestError>) {
        *lock(&self.0) = Some(answer);
    }

    fn take(&self) -> Option<core::result::Result<RangeResponse, RequestError>> {
        lock(&self.0).take()
    }
}

/// Creates the HTTP client of a store.
#[derive(Debug)]
struct Connector(HttpOptions);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp);
        let secure = plain.as_deref() != Some("true");
        // Redirects are not followed, because a redirected request would need a new signature.
        Ok(HttpClient::new(Service(HttpTransport::new(&self.0, secure, false))))
    }
}

/// Largest response of a credentials server, in bytes.
const MAX_CREDENTIALS_LEN: u64 = 1 << 20;

/// Sends requests synchronously: each thread waits for its own.
#[derive(Debug)]
struct Service(HttpTransport);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> core::result::Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let call = parts.extensions.get::<Call>().cloned();
        let body = body.as_bytes().map(|bytes| bytes.to_vec()).unwrap_or_default();
        match call {
            Some(call) => self.range(Request::from_parts(parts, ()), &call),
            None if body.is_empty() => self.other(Request::from_parts(parts, ())),
            None => self.other(Request::from_parts(parts, body)),
        }
    }
}

impl Service {
    /// Sends a range request. The response goes to `call`.
    fn range(&self, request: Request<()>, call: &Call) -> core::result::Result<HttpResponse, HttpError> {
        let len = super::response::wanted(request.headers());
        let sent = self.0.send(request, len);
        let head = sent.as_ref().map(|response| {
            let mut head = Response::new(Vec::new().into());
            *head.status_mut() = response.status();
            *head.headers_mut() = response.headers().clone();
            head
        });
        let head = head.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error.clone()));
        call.put(sent.and_then(range_response));
        head
    }

    /// Sends a credentials request. Every failure is an error here, also one that the server's
    /// status says, so that [`cause`] finds it and transient ones are retried.
    fn other(
        &self,
        request: Request<impl ureq::AsSendBody>,
    ) -> core::result::Result<HttpResponse, HttpError> {
        let failed = |error: RequestError| HttpError::new(HttpErrorKind::Unknown, error.of_credentials());
        let (parts, mut body) = self.0.send(request, MAX_CREDENTIALS_LEN).map_err(failed)?.into_parts();
        if !parts.status.is_success() {
            return Err(failed(status_error(parts.status, &parts.headers)));
        }
        let bytes = body.with_config().limit(MAX_CREDENTIALS_LEN).read_to_vec();
        let bytes = bytes.map_err(|e| failed(RequestError::from_transport(&e)))?;
        Ok(Response::from_parts(parts, bytes.into()))
    }
}
