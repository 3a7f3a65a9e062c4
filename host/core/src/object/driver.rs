//! Drivers: they list devices and open them.

use super::{Device, DeviceInfo, DeviceShared, device_state::DeviceParts, factory::CREATING_NS, profile};
use crate::{
    budget::{Charge, Node},
    error::{Error, Result, internal, invalid, not_found, out_of_range, unavailable},
    policy::{Limit, Reveal, Terms},
    tenant::Tenant,
    text::{MAX_NAME_BYTES, clean, cut, list, quote, replace_word, replace_words, there_are},
};
use hal_driver::DriverInfo;
use hal_uri::{MAX_PARAMS, MAX_URI_BYTES, Uri};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most devices of one listing; what stands behind them does not exist for the tenant.
const MAX_DEVICES: usize = 256;

/// Most bytes of a driver's text about a device.
const MAX_DETAILS_BYTES: usize = 16 << 10;

/// Parameters of a device to be opened, in order; keys may repeat.
pub type Parameters = Vec<(String, String)>;

/// Which device is meant.
enum Which {
    Default,
    Ordinal(u32),
    Id(u64),
    Path(String),
}

struct DriverShared {
    tenant: Arc<Tenant>,
    node: Arc<Node>,
    terms: Terms,
    native: Arc<dyn hal_driver::Driver>,
    info: DriverInfo,
    seen: Mutex<Seen>,
    _charge: Charge,
}

/// What this handle has listed so far.
#[derive(Default)]
struct Seen {
    /// Native paths; the place is the id.
    paths: Vec<String>,
    /// Ids in the order of the last list.
    last: Option<Vec<u64>>,
}

/// A device of a fresh list.
struct Listed {
    id: u64,
    native: hal_driver::DeviceInfo,
}

/// A driver under a grant. Devices outlive it.
pub struct Driver(Arc<DriverShared>);

/// What a driver is made with.
pub(super) struct DriverParts {
    pub(super) tenant: Arc<Tenant>,
    pub(super) node: Arc<Node>,
    pub(super) terms: Terms,
    pub(super) native: Arc<dyn hal_driver::Driver>,
    pub(super) info: DriverInfo,
    pub(super) charge: Charge,
}

impl Driver {
    pub(super) fn new(parts: DriverParts) -> Self {
        let DriverParts { tenant, node, terms, native, info, charge } = parts;
        Self(Arc::new(DriverShared { tenant, node, terms, native, info, seen: Mutex::default(), _charge: charge }))
    }

    /// What it calls itself.
    pub fn info(&self) -> DriverInfo {
        self.0.info.clone()
    }

    /// The devices there are now, as far as they are granted. May be empty.
    ///
    /// # Errors
    /// `unavailable`; `permission-denied` once revoked; `internal` for two devices with one path.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn query_available_devices(&self) -> Result<Vec<DeviceInfo>> {
        let shared = self.0.clone();
        let query = move || {
            let listed = shared.list()?;
            shared.lock().last = Some(listed.iter().map(|device| device.id).collect());
            Ok(listed.iter().map(|device| shared.show(device.id, &device.native)).collect())
        };
        let result = self.run("listing devices", query).await;
        self.0.tenant.observe("driver.query-available-devices", result)
    }

    /// Text for diagnostics. What it reveals is the operator's choice.
    ///
    /// # Errors
    /// `not-found`.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn device_details(&self, id: u64) -> Result<String> {
        let shared = self.0.clone();
        let details = move || {
            let device = shared.find(&Which::Id(id), &Vec::new())?;
            shared.details(&device)
        };
        let result = self.run("describing a device", details).await;
        self.0.tenant.observe("driver.device-details", result)
    }

    /// Opens the n-th device of the list that this handle returned last; queries if there is none.
    ///
    /// # Errors
    /// `out-of-range` with the count; `unavailable` if that device is gone since; as by path otherwise.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_device_by_ordinal(&self, ordinal: u32, parameters: Parameters) -> Result<Device> {
        let result = self.open(Which::Ordinal(ordinal), parameters).await;
        self.0.tenant.observe("driver.create-device-by-ordinal", result)
    }

    /// Opens a device by id.
    ///
    /// # Errors
    /// `not-found`; as by path otherwise.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_device_by_id(&self, id: u64, parameters: Parameters) -> Result<Device> {
        let result = self.open(Which::Id(id), parameters).await;
        self.0.tenant.observe("driver.create-device-by-id", result)
    }

    /// Opens a device by the path it was listed with. The empty path leaves the choice to the driver: the first device listed, unless it
    /// knows parameters that ask for another one. The parameter `profile=portable` is known to every driver: the device then publishes
    /// and takes no more than [`hal_driver::PORTABLE`].
    ///
    /// # Errors
    /// `not-found` with the paths there are, or if no device is as the parameters ask; `invalid-argument` for a malformed path or an
    /// unknown parameter;
    /// `resource-exhausted` for "devices"; `unavailable` if it cannot be opened now.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_device_by_path(&self, path: &str, parameters: Parameters) -> Result<Device> {
        let result = match named(path) {
            Ok(which) => self.open(which, parameters).await,
            Err(error) => Err(error),
        };
        self.0.tenant.observe("driver.create-device-by-path", result)
    }

    /// Opens `scheme:[//|/]path[?key=value&...]`; the scheme must be this driver's name.
    ///
    /// # Errors
    /// `invalid-argument` for another scheme, more than 4,096 bytes or more than 128 parameters; as by path otherwise.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_device_by_uri(&self, uri: &str) -> Result<Device> {
        let result = match self.parse(uri) {
            Ok((which, parameters)) => self.open(which, parameters).await,
            Err(error) => Err(error),
        };
        self.0.tenant.observe("driver.create-device-by-uri", result)
    }

    fn parse(&self, uri: &str) -> Result<(Which, Parameters)> {
        let parsed = Uri::parse(uri).map_err(|error| invalid(error.to_string()))?;
        if parsed.scheme() != self.0.info.name {
            return Err(invalid(format!(
                "a URI with the scheme {} does not belong to the driver \"{}\"",
                quote(parsed.scheme()),
                self.0.info.name
            )));
        }
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Ok((named(parsed.path())?, parsed.params().iter().map(own).collect()))
    }

    /// Opens the device that the driver chooses if nothing is asked for, which is the first one of most drivers.
    ///
    /// # Errors
    /// `unavailable` if there is no device; as by path otherwise.
    #[tracing::instrument(level = "trace", skip_all)]
    pub async fn create_default_device(&self) -> Result<Device> {
        let result = self.open(Which::Default, Vec::new()).await;
        self.0.tenant.observe("driver.create-default-device", result)
    }

    async fn open(&self, which: Which, parameters: Parameters) -> Result<Device> {
        if parameters.len() > MAX_PARAMS {
            return Err(invalid(format!("{} parameters; at most {MAX_PARAMS} are taken", parameters.len())));
        }
        let bytes =
            parameters.iter().map(|(key, value)| key.len().saturating_add(value.len())).fold(0, usize::saturating_add);
        if bytes > MAX_URI_BYTES {
            return Err(invalid(format!("parameters of {bytes} bytes; at most {MAX_URI_BYTES} are taken")));
        }
        self.0.tenant.alive(&self.0.node)?;
        let charge = self.0.node.charge(Limit::Devices, 1)?;
        let shared = self.0.clone();
        self.run("opening a device", move || shared.open(&which, parameters, charge)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.0.tenant.run(&self.0.node, CREATING_NS, what, job).await
    }
}

/// A path as a guest writes it.
fn named(path: &str) -> Result<Which> {
    if path.len() > MAX_NAME_BYTES {
        return Err(invalid(format!("a path has at most {MAX_NAME_BYTES} bytes; this one has {}", path.len())));
    }
    Ok(if path.is_empty() { Which::Default } else { Which::Path(path.to_owned()) })
}

impl DriverShared {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A driver's error about a device, less what the grant does not reveal of it.
    fn hide(&self, devices: &[Listed], mut error: Error) -> Error {
        if self.terms.reveal == Reveal::All {
            return error;
        }
        tracing::debug!(tenant = %self.tenant.name, driver = %self.info.name, %error, "a device was not opened");
        if self.terms.reveal == Reveal::None {
            for device in devices {
                error.message = replace_word(&error.message, &device.native.name, "the device");
            }
        }
        // In one pass: an id that was put in may be another device's path.
        let paths = devices.iter().map(|device| (device.native.path.as_str(), device.id.to_string()));
        error.message = replace_words(&error.message, &paths.collect::<Vec<_>>());
        error
    }

    /// The device that is meant by a caller that names none.
    fn choose(&self, listed: &[Listed], parameters: &Parameters) -> Result<u64> {
        let devices: Vec<_> = listed.iter().map(|device| device.native.clone()).collect();
        let chosen = self.native.choose(&devices, parameters);
        let chosen = chosen.map_err(|error| profile::mention(self.hide(listed, error.into()), parameters))?;
        listed.get(chosen).map(|device| device.id).ok_or_else(|| {
            internal(format!("the driver \"{}\" chose device {chosen} of a list of {}", self.info.name, listed.len()))
        })
    }

    /// The devices there are now, under ids that stay.
    fn list(&self) -> Result<Vec<Listed>> {
        let devices = self.native.devices()?;
        let mut paths: Vec<&str> = devices.iter().map(|device| device.path.as_str()).collect();
        paths.sort_unstable();
        if paths.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(internal(format!("the driver \"{}\" lists two devices with one path", self.info.name)));
        }
        let mut devices = self.terms.filter(&self.info.name, devices);
        devices.truncate(MAX_DEVICES);
        let mut seen = self.lock();
        let listed = devices.into_iter().map(|native| {
            let known = seen.paths.iter().position(|path| *path == native.path);
            let id = known.unwrap_or_else(|| {
                seen.paths.push(native.path.clone());
                seen.paths.len() - 1
            });
            Listed { id: id as u64, native }
        });
        Ok(listed.collect())
    }

    /// The path that a tenant sees.
    fn path(&self, id: u64, native: &str) -> String {
        if self.terms.reveal == Reveal::All { native.to_owned() } else { id.to_string() }
    }

    /// A device as a tenant sees it.
    fn show(&self, id: u64, native: &hal_driver::DeviceInfo) -> DeviceInfo {
        let name = match self.terms.reveal {
            Reveal::None => format!("{} device", self.info.name),
            Reveal::Model | Reveal::All => clean(&native.name, MAX_NAME_BYTES),
        };
        DeviceInfo {
            id,
            path: self.path(id, &native.path),
            name,
            kind: native.kind,
            memory_bytes: native.memory_bytes.min(self.node.allowed(Limit::MemoryBytes)),
            formats: native.formats.clone(),
            features: native.features.clone(),
        }
    }

    fn details(&self, device: &Listed) -> Result<String> {
        let info = self.show(device.id, &device.native);
        match self.terms.reveal {
            Reveal::None => Ok(format!("{}\nkind: {}\n", info.name, info.kind.label())),
            Reveal::Model => Ok(format!(
                "{}\nkind: {}\nmemory: {} bytes\nformats: {}\nfeatures: {}\n",
                info.name,
                info.kind.label(),
                info.memory_bytes,
                list(info.formats.iter().map(String::as_str)),
                list(info.features.iter().map(String::as_str)),
            )),
            Reveal::All => {
                let mut details = self.native.details(&device.native.path)?;
                cut(&mut details, MAX_DETAILS_BYTES);
                Ok(details)
            }
        }
    }

    /// The device that is meant, in a fresh list.
    fn find(&self, which: &Which, parameters: &Parameters) -> Result<Listed> {
        let last = self.lock().last.clone();
        let listed = self.list()?;
        let id = match which {
            Which::Default if listed.is_empty() => {
                return Err(unavailable(format!("the driver \"{}\" has no device now", self.info.name)));
            }
            Which::Default => self.choose(&listed, parameters)?,
            Which::Id(id) => *id,
            Which::Ordinal(ordinal) => {
                let ids = last.unwrap_or_else(|| listed.iter().map(|device| device.id).collect());
                *ids.get(*ordinal as usize).ok_or_else(|| {
                    out_of_range(match ids.len() {
                        0 => format!("device {ordinal} of an empty list: there is none"),
                        count => format!("device {ordinal} of a list of {count}; the first one is 0"),
                    })
                })?
            }
            Which::Path(path) => self.by_path(path, &listed)?,
        };
        if id >= self.lock().paths.len() as u64 {
            let ids: Vec<String> = listed.iter().map(|device| device.id.to_string()).collect();
            return Err(not_found(format!("no device has the id {id}; {}", there_are(ids.iter().map(String::as_str)))));
        }
        let gone = || unavailable(format!("device {id} was listed, but is gone now; list the devices again"));
        listed.into_iter().find(|device| device.id == id).ok_or_else(gone)
    }

    fn by_path(&self, path: &str, listed: &[Listed]) -> Result<u64> {
        let paths: Vec<String> = listed.iter().map(|device| self.path(device.id, &device.native.path)).collect();
        if let Some((device, _)) = listed.iter().zip(&paths).find(|(_, known)| *known == path) {
            return Ok(device.id);
        }
        let there = there_are(paths.iter().map(String::as_str));
        // Numbers are paths; what only begins like one is a slip, not a device that might be there tomorrow.
        let canonical = path.parse::<u64>().is_ok_and(|number| number.to_string() == path);
        let like_a_number = path.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        if like_a_number && !canonical && self.terms.reveal != Reveal::All {
            return Err(invalid(format!("{} is no device path; {there}", quote(path))));
        }
        Err(not_found(format!("no device has the path {}; {there}", quote(path))))
    }

    fn open(&self, which: &Which, mut parameters: Parameters, charge: Charge) -> Result<Device> {
        let portable = profile::take(&mut parameters)?;
        let listed = self.find(which, &parameters)?;
        let native = self.native.open(&listed.native.path, &parameters);
        let native = native
            .map_err(|error| profile::mention(self.hide(std::slice::from_ref(&listed), error.into()), &parameters))?;
        let native = if portable { Arc::new(profile::Portable::new(native)) } else { native };
        let info = self.show(listed.id, native.info());
        // The opened device may call itself something else; its path stays the one it was listed with.
        let info = DeviceInfo { path: self.path(listed.id, &listed.native.path), ..info };
        Ok(Device(DeviceShared::new(DeviceParts {
            tenant: self.tenant.clone(),
            node: self.node.clone(),
            native,
            info,
            exact_timing: self.terms.exact_timing,
            charge,
        })))
    }
}
